"""What a build of any game will take: keys, time, memory, disk. Said before it starts.

`retro.walk.forecast` says how many keys and finished games each ply will have, and how long the
walk forward takes for a move on this machine; the rest follows:

    memory   while a ply is made: its predecessors, and three times its keys and finished games
             (runs of successors while they are merged); and what Python and kernels take
    time     of the walk forward, times what a whole build takes of it
    disk     packed keys; twice while the parts are joined

The sizes are right where the walk reached (`is_exact`), and elsewhere within `error`: measured
against real tables, a tenth at most in games whose positions have whole numbers of predecessors,
and 1.6 times at most in others. Time depends on what else the machine does.
A build is refused if it needs more than there is even when the forecast is too high by `error`;
in between it is warned of, and each layer is refused by itself when it does not fit.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from retro.errors import DoesNotFitError
from retro.walk.forecast import Forecast, forecast
from retro.walk.keyed import prepare
from tablebase.estimate import PlyPlan, available_memory, existing
from tablebase.keyed_format import KeyedHeader, header_for
from tablebase.units import duration, size

if TYPE_CHECKING:
    from pathlib import Path

    from retro.games.catalogue import PlacementGame

BASE_MEMORY = 500_000_000  # Python, compiled kernels, what a thread works on
SECONDS_AT_LEAST = 0.5
WHOLE_BUILD = 3.0  # of the walk forward of a small layer: sorting, walking back, packing, writing
ROOM_TO_MERGE = 3  # the successors of a layer, as one set
BYTES_PER_WORD = 0.6  # in the file; 0.4 to 0.7 in tables of a million keys
BYTES_PER_PLY = 4000
STRAIGHT_ERROR = 1.2
BENT_ERROR, BENT_PLIES = 2.0, 12  # measured on up to so many sampled plies; beyond, it multiplies
DIGITS = 3  # of a number that is not exact


@dataclass(frozen=True)
class KeyedEstimate:
    """What building a table will take."""

    name: str
    header: KeyedHeader
    forecast: Forecast
    keys: int
    plies: dict[int, PlyPlan]
    seconds: float
    memory: int  # bytes at the peak
    disk: int  # bytes of the finished file
    disk_while_building: int

    @property
    def exact_plies(self) -> int:
        """How many plies were walked, from the first on."""
        return sum(layer.is_exact for layer in self.forecast.layers)

    @property
    def error(self) -> float:
        """The sizes are right within this factor."""
        if self.forecast.is_exact:
            return 1.0
        if self.forecast.is_straight:
            return STRAIGHT_ERROR
        sampled = len(self.forecast.layers) - self.exact_plies
        return float(round(BENT_ERROR ** max(1.0, sampled / BENT_PLIES), 1))

    def summary(self) -> str:
        """One line for people."""
        about = "" if self.forecast.is_exact else "about "
        return (
            f"{about}{self.keys:,} keys, about {duration(self.seconds)}, {size(self.memory)} of "
            f"memory, {size(self.disk)} on disk ({size(self.disk_while_building)} while building)"
        )

    def as_json(self) -> dict[str, Any]:
        """What a program may read."""
        shown = ("keys", "seconds", "memory", "disk", "disk_while_building")
        return {
            "game": self.header.game,
            "board": self.header.board,
            "options": json.loads(self.header.options),
            "root": self.header.root,
            "first_ply": self.header.first_ply,
            "last_ply": max(self.plies),
            "exact_plies": self.exact_plies,
            "error": self.error,
            **{name: getattr(self, name) for name in shown},
            "plies": [{"ply": ply, **plan._asdict()} for ply, plan in self.plies.items()],
        }


def estimate_keyed(
    game: PlacementGame, root: Any, threads: int | None = None, *, seed: int = 0
) -> KeyedEstimate:
    """What the table of all that can follow `root` will take; a second or two, little memory.

    >>> from retro.games.catalogue import find_game
    >>> mnk = find_game("mnk")
    >>> estimate = estimate_keyed(mnk, mnk.start(mnk.parse("3x3", {})))
    >>> estimate.keys, estimate.error, estimate.plies[5].positions
    (627, 1.0, 153)
    """
    rules = game.rules(root.board)
    found = forecast(prepare(rules, threads), game.state(root), root.ply, seed=seed)
    layers, word_bytes = found.layers, 8 * rules.words
    seconds = [WHOLE_BUILD * found.seconds_per_edge * layer.edges for layer in layers]
    before = [0.0, *(layer.keys for layer in layers)]
    memory = [
        word_bytes * (there + ROOM_TO_MERGE * (layer.keys + layer.ended))
        for there, layer in zip(before, layers, strict=False)
    ]
    keys = sum(layer.keys for layer in layers)
    disk = _rounded(rules.words * BYTES_PER_WORD * keys + BYTES_PER_PLY * len(layers))
    return KeyedEstimate(
        name=game.table_name(root.board),
        header=header_for(game, root, rules.words),
        forecast=found,
        keys=int(keys) if found.is_exact else _rounded(keys),
        plies={
            layer.ply: PlyPlan(
                int(layer.keys) if layer.is_exact else _rounded(layer.keys), taken, _rounded(most)
            )
            for layer, taken, most in zip(layers, seconds, memory, strict=True)
        },
        seconds=SECONDS_AT_LEAST + sum(seconds),
        memory=BASE_MEMORY + _rounded(max(memory)),
        disk=disk,
        disk_while_building=2 * disk,
    )


def require_fit(estimate: KeyedEstimate, folder: Path, already_written: int = 0) -> str | None:
    """Raise `DoesNotFitError` if the build surely needs more memory or disk than there is.

    Returns a warning if it may. `already_written` are bytes that an interrupted build has left.
    """
    free = available_memory()
    room = shutil.disk_usage(existing(folder)).free + already_written
    needs = f"{estimate.name} needs {estimate.summary()}"
    for needed, base, there, where in (
        (estimate.memory, BASE_MEMORY, free, "of free memory"),
        (estimate.disk_while_building, 0, room, f"free in {folder}"),
    ):
        if there is not None and needed > there:
            line = f"{needs}; there is {size(there)} {where}"
            if base + (needed - base) / estimate.error > there:
                raise DoesNotFitError(line)
            return f"{line}; it may not fit"
    return None


def _rounded(number: float) -> int:
    return int(float(f"{number:.{DIGITS}g}"))
