"""Ways in which the playing of a game goes wrong, where a process of its own can import them.

A process that is spawned finds a function by its module's name, and tests' own modules,
imported by their paths, have none that it would find.
"""

import os

from retro.play.contest import Bout
from retro.play.record import GameRecord


def fail(bout: Bout) -> GameRecord:
    raise ValueError(f"game {bout.number}")


def die(bout: Bout) -> GameRecord:
    os._exit(3)
