"""Walking back with distances, in any game: scores in place of values.

    score of a move = one ply further from the score of the successor, turned around
    score           = the best over the moves

`scores` says what a score is. All else is as in `kernels`; a win at once is the best there is,
so the moves after it need no look.
"""

from __future__ import annotations

import numpy as np

from retro.games.kernels import UNDECIDED, canonical, move_limit, orbit, outcome, play
from retro.jit import entry, inner
from retro.walk.keys.kernels import SOUND, U0, find
from retro.walk.keys.scores import DECIDED, NOTHING


@inner
def of_move(score):
    """The score of a move from that of the position after it."""
    return -score - 1 if score < 0 else -score + 1 if score > 0 else 0


@entry
def evaluate_scores(rules, keys_a, keys_b, after, scores):
    """Fill in the scores of live states from the layer after theirs; as `kernels.evaluate`."""
    after_a, after_b, starts, after_scores = after.a, after.b, after.starts, after.values
    shift = after.shift
    limit = move_limit(rules)
    for i in range(len(keys_a)):
        b = keys_b[i] if len(keys_b) > 0 else U0
        best = NOTHING
        for move in range(limit):
            legal, next_a, next_b = play(rules, keys_a[i], b, move)
            if legal:
                score = DECIDED * outcome(rules, next_a, next_b)
                if score == DECIDED * UNDECIDED:
                    next_a, next_b = canonical(rules, next_a, next_b)
                    place = find(after_a, after_b, starts, shift, next_a, next_b)
                    if place < 0:
                        return i
                    score = np.int64(after_scores[place])
                best = max(best, of_move(score))
                if best == DECIDED - 1:
                    break
        if best == NOTHING:
            return i
        scores[i] = best
    return SOUND


@entry
def count_scores(rules, keys_a, keys_b, scores, counts):
    """Add the positions of live states, symmetric ones too, to counts[1 + value, plies]."""
    for i in range(len(keys_a)):
        score = np.int64(scores[i])
        value = (score > 0) - (score < 0)
        plies = DECIDED - abs(score) if value != 0 else 0
        b = keys_b[i] if len(keys_b) > 0 else U0
        counts[1 + value, plies] += orbit(rules, keys_a[i], b)
