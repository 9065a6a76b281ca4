"""The mathematics of exact game solving: rules, index, walks. Opens no file.

Rooms, and which way the doors open (imports run downward only):

    errors <- games, index <- walk <- tablebase (the other package: files and questions)
"""

from retro.version import VERSION as __version__

__all__ = ["__version__"]
