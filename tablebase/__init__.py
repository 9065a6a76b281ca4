"""Exact tables of placement games: build them, ask them, check them.

    import tablebase as tb

    tb.analyse("4453")                           # one question: 7x6, unless a board is named
    board = tb.board("connect4", "5x4")          # tb.board("mnk", "4x4", connect=4), ...
    tb.build(board)
    with tb.open_tablebase(board) as table:
        table.probe_wdl("443")                   # +1: a win for the side to move
    with tb.oracle("7x6") as oracle:             # the tables that are there, then the solver
        oracle.probe("4453")

`docs/python.md` has such examples. Importing this package loads neither numba nor h5py.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from retro.version import VERSION as __version__

if TYPE_CHECKING:
    from retro.games.catalogue import make_board as board
    from retro.games.game import Board, Position, States
    from retro.games.moves import Move
    from retro.games.values import Value
    from retro.search import Solver
    from retro.search import Solver as solver
    from tablebase.answers import Counts, Line, Probe, RatedMove, Solution, Verified
    from tablebase.answers import Probe as Analysis
    from tablebase.building.build import Built, build, plan
    from tablebase.building.plan import Plan, Progress
    from tablebase.checks import verify
    from tablebase.known import counts
    from tablebase.oracles import Oracle, analyse, oracle, solve
    from tablebase.oracles import analyse as analyze
    from tablebase.perfect import PerfectPlayer
    from tablebase.rows import random_position
    from tablebase.tables import Table, open_tablebase

_HOMES = {
    "Analysis": "tablebase.answers.Probe",
    "Board": "retro.games.game.Board",
    "Built": "tablebase.building.build.Built",
    "Counts": "tablebase.answers.Counts",
    "Line": "tablebase.answers.Line",
    "Move": "retro.games.moves.Move",
    "Oracle": "tablebase.oracles.Oracle",
    "PerfectPlayer": "tablebase.perfect.PerfectPlayer",
    "Plan": "tablebase.building.plan.Plan",
    "Position": "retro.games.game.Position",
    "Probe": "tablebase.answers.Probe",
    "Progress": "tablebase.building.plan.Progress",
    "RatedMove": "tablebase.answers.RatedMove",
    "Solution": "tablebase.answers.Solution",
    "Solver": "retro.search.Solver",
    "States": "retro.games.game.States",
    "Table": "tablebase.tables.Table",
    "Value": "retro.games.values.Value",
    "Verified": "tablebase.answers.Verified",
    "analyse": "tablebase.oracles.analyse",
    "analyze": "tablebase.oracles.analyse",
    "board": "retro.games.catalogue.make_board",
    "build": "tablebase.building.build.build",
    "counts": "tablebase.known.counts",
    "open_tablebase": "tablebase.tables.open_tablebase",
    "oracle": "tablebase.oracles.oracle",
    "plan": "tablebase.building.build.plan",
    "random_position": "tablebase.rows.random_position",
    "solve": "tablebase.oracles.solve",
    "solver": "retro.search.Solver",
    "verify": "tablebase.checks.verify",
}

__all__ = [
    "Analysis",
    "Board",
    "Built",
    "Counts",
    "Line",
    "Move",
    "Oracle",
    "PerfectPlayer",
    "Plan",
    "Position",
    "Probe",
    "Progress",
    "RatedMove",
    "Solution",
    "Solver",
    "States",
    "Table",
    "Value",
    "Verified",
    "__version__",
    "analyse",
    "analyze",
    "board",
    "build",
    "counts",
    "open_tablebase",
    "oracle",
    "plan",
    "random_position",
    "solve",
    "solver",
    "verify",
]


def __getattr__(name: str) -> Any:
    """Import on first use. Modules have plural names so that they do not hide the functions."""
    if name not in _HOMES:
        raise AttributeError(f"module 'tablebase' has no attribute {name!r}")
    module, _, attribute = _HOMES[name].rpartition(".")
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    return __all__
