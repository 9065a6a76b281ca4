"""The mathematics of exact game solving: rules, index, walks, search. Opens no file.

Rooms, and which way the doors open (imports run downward only):

    errors, jit <- games <- index <- walk, search <- tablebase (the other package: files, questions)
"""

from retro.version import VERSION as __version__

__all__ = ["__version__"]
