"""What the tests of the search try: positions with their true values, and sets of rungs.

`StateSolver` asks the generic engine about states, of any board, Connect Four's too.

Every pair of choices of rungs meets in at least one of the sets. The full power
set has tens of thousands; faults come from a rung or from two that do not get
along, so a greedy choice that covers all pairs is enough.
"""

from functools import cache
from itertools import combinations
from types import SimpleNamespace

from plain import connect4 as naive
from plain import mnk as naive_mnk

from retro.deadline import Deadline
from retro.search.engine import Options, Watch
from retro.search.generic import engine as any_game
from retro.search.generic.search import GenericSearch
from retro.search.ladder.lines import Stones
from retro.search.ladder.rungs import MINIMAX, Rungs

CHOICES = {
    "core": ("alpha-beta", "negamax"),
    "table": (True, False),
    "replacement": ("two-tier", "newest", "costliest"),
    "slots": (1 << 14, 37, 1),
    "symmetry": (True, False),
    "dead_stones": (True, False),
    "static_order": (True, False),
    "threats": (True, False),
    "table_move": (True, False),
    "history": (True, False),
    "forced": (True, False),
    "bounds": (True, False),
    "deepening": (True, False),
    "doubling": (True, False),
    "graded": (True, False),
}


class StateSolver:
    """The generic engine of a board; `probe` stands for a table."""

    def __init__(self, board, *, memory_mb=1, probe=None, loop=any_game, time_limit=None):
        self.board, self.probe, self.limit = board, probe, time_limit
        tables = [SimpleNamespace(get_wdl=lambda at: probe(at._state))] if probe else []
        self.engine = GenericSearch(board, Options(memory_mb << 20), tables, loop)

    def solve(self, state, strong=False):
        """(value, plies, nodes, whether a table took part) of any state, finished or not."""
        state = getattr(state, "_state", state)
        known = self.probe(state) if self.probe else None
        watch = Watch(Deadline(self.limit), lambda *_: None)
        position = SimpleNamespace(_state=state, history=())
        return self.engine.solve(position, known, strong, watch)


def covering():
    """Rungs such that any two choices of different fields occur together."""
    missing = {
        frozenset({(a, x), (b, y)})
        for a, b in combinations(CHOICES, 2)
        for x in CHOICES[a]
        for y in CHOICES[b]
    }
    found = []
    while missing:
        chosen = dict(min(missing, key=sorted_pair))
        for field, options in CHOICES.items():
            if field not in chosen:
                chosen[field] = max(options, key=lambda o, f=field: gain(chosen, f, o, missing))
        missing -= {frozenset(pair) for pair in combinations(chosen.items(), 2)}
        found.append(Rungs(**chosen))
    return [MINIMAX, Rungs(), *found]


def gain(chosen, field, option, missing):
    return sum(frozenset({(field, option), other}) in missing for other in chosen.items())


def sorted_pair(pair):
    """A fixed order, so that the set is the same on every run."""
    return sorted(map(str, pair))


def name(rungs):
    """A short name for the list of tests: what is on, what the table is."""
    on = [field for field in CHOICES if getattr(rungs, field) is True]
    return f"{rungs.core}-{rungs.replacement}-{rungs.slots}-{'+'.join(on)}"


def plies_in_reach(rungs, most):
    """How many plies before the end this set of rungs can look at, many times over."""
    remembers = rungs.table and rungs.slots > 100
    if rungs.core == "alpha-beta" and remembers:
        return most
    return (6 if remembers else 5 if rungs.core == "alpha-beta" else 4) - rungs.deepening


@cache
def connect_states(game):
    """(state, true value) of every legal position."""
    found = []
    for text, value in naive.values(game).items():
        first, second = naive.bitboards(game, text)
        found.append((Stones(*_mover_first(naive.ply_of(text), first, second)), value))
    return found


@cache
def mnk_states(game):
    found = []
    for text, value in naive_mnk.values(game).items():
        first, second = naive_mnk.bitboards(game, text)
        found.append((Stones(*_mover_first(len(text) - text.count("."), first, second)), value))
    return found


def _mover_first(ply, first, second):
    return (second, first) if ply % 2 else (first, second)
