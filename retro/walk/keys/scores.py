"""Scores: value and plies in one int8, for walks with distances in any game.

A position that is won in n plies has the score 127 - n, one that is lost in n plies n - 127, and
a draw 0; so the best score is the fastest win, a draw, or the slowest loss, and a walk with
distances has scores where one without has values:

    LOST in 2   LOST in 4          draw          WON in 3   WON in 1
      -125        -123      ...     0     ...      124         126

A draw needs no plies of its own: it ends when nothing can be added, which in every game
is on the same ply. Games have at most 64 cells, so no score comes near 0.

`distances` has the kernels; this is for whoever reads a file, without them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

DECIDED = 127  # the score of a game that the side to move has won
NOTHING = -128  # below every score


def values_of(scores: NDArray[np.int8]) -> NDArray[np.int8]:
    """The values of scores, which may be values."""
    return np.sign(scores)


def plies_of(scores: NDArray[np.int8]) -> NDArray[np.uint8]:
    """The plies to the end; 0 for draws, see above.

    >>> plies_of(np.array([126, 0, -125], np.int8)).tolist()
    [1, 0, 2]
    """
    return np.where(scores == 0, 0, DECIDED - np.abs(scores.astype(np.int16))).astype(np.uint8)


def scores_of(values: NDArray[np.int8], plies: NDArray[np.uint8]) -> NDArray[np.int8]:
    """Undo the two above.

    >>> scores_of(np.array([1, 0, -1], np.int8), np.array([1, 0, 2], np.uint8)).tolist()
    [126, 0, -125]
    """
    return (values * (DECIDED - plies.astype(np.int16))).astype(np.int8)
