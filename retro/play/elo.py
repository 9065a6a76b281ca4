"""Elo numbers of a tournament by maximum likelihood, with standard errors.

The chance that i beats j is taken to be 1 / (1 + 10 ** ((r_j - r_i) / 400)), a draw counts
as half a win and half a loss (Bradley and Terry, 1952; Elo, 1978). The likeliest numbers are
found by Newton's method; their mean is 0, for only differences mean anything. The error
bars come from the curvature of the likelihood at its top.

A player who has won every game would be infinitely strong. So each two players who have met are
lent one drawn game, which pulls the numbers together a little.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SCALE = 400 / np.log(10)
LENT = 1.0  # drawn games between each two who have met
STEPS = 100
CONFIDENT = 1.96  # standard errors, 95 %


class Rating(NamedTuple):
    """Elo above the mean of the field, and its standard error."""

    elo: float
    error: float

    @property
    def bar(self) -> float:
        """Half of the interval that holds the true number with 95 %."""
        return CONFIDENT * self.error


def elo(points: NDArray[np.float64]) -> list[Rating]:
    """The ratings of players; `points[i, j]` is what i scored against j.

    >>> [round(r.elo) for r in elo(np.array([[0.0, 75.0], [25.0, 0.0]]))]
    [94, -94]
    """
    games = points + points.T
    met = games > 0
    points = points + met * LENT / 2
    games = games + met * LENT
    ratings = np.zeros(len(points))
    for _ in range(STEPS):
        slope, curve = _derivatives(ratings, points, games)
        step = np.linalg.pinv(curve) @ slope
        ratings += np.clip(step, -3, 3)
        if np.abs(step).max() < 1e-10:
            break
    ratings -= ratings.mean()
    _, curve = _derivatives(ratings, points, games)
    errors = np.sqrt(np.diag(np.linalg.pinv(curve)))
    return [
        Rating(float(SCALE * r), float(SCALE * e)) for r, e in zip(ratings, errors, strict=True)
    ]


def _derivatives(
    ratings: NDArray[np.float64], points: NDArray[np.float64], games: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Slope of the log-likelihood, and how it bends (positive: a top)."""
    chance = 1 / (1 + np.exp(ratings[None, :] - ratings[:, None]))
    slope = (points - games * chance).sum(axis=1)
    bends = games * chance * (1 - chance)
    return slope, np.diag(bends.sum(axis=1)) - bends
