"""`build-tablebase GAME BOARD --plan`: what a table of another game than Connect Four will take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retro.errors import DoesNotFitError
from tablebase.cli.common import say
from tablebase.cli.show import print_columns, print_json
from tablebase.keyed_estimate import estimate_keyed, require_fit
from tablebase.units import duration, size

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from retro.games.catalogue import PlacementGame
    from tablebase.keyed_estimate import KeyedEstimate


def plan(options: argparse.Namespace, game: PlacementGame, root: Any, path: Path) -> int:
    """Print the forecast; build nothing."""
    estimate = estimate_keyed(game, root, options.threads)
    obstacle = None
    try:
        fits = "yes" if require_fit(estimate, path.parent) is None else "perhaps"
    except DoesNotFitError as error:
        fits, obstacle = "no", str(error)
    if options.json:
        print_json({**estimate.as_json(), "file": str(path), "fits": obstacle is None})
    else:
        _print_plan(estimate, path, fits)
    if obstacle is not None:
        say(f"would be refused: {obstacle}")
    return 0


def _print_plan(estimate: KeyedEstimate, path: Path, fits: str) -> None:
    about = "" if estimate.forecast.is_exact else "about "
    print(f"{estimate.name} would go to {path}")
    print(f"keys              {about}{estimate.keys:,}")
    print(f"time              about {duration(estimate.seconds)}, as busy as this machine is")
    print(f"memory            about {size(estimate.memory)}")
    print(f"disk              about {size(estimate.disk)}", end=" ")
    print(f"({size(estimate.disk_while_building)} while building)")
    print(f"fits here         {fits}")
    lines: list[tuple[str, ...]] = [("ply", "keys", "time", "memory")]
    lines += [
        (str(ply), f"{ply_plan.positions:,}", duration(ply_plan.seconds), size(ply_plan.memory))
        for ply, ply_plan in estimate.plies.items()
    ]
    print_columns(lines)
    if about:
        sampled = estimate.header.first_ply + estimate.exact_plies
        print(f"from ply {sampled} on by sampling; ", end="")
        print(f"the number of keys is right within a factor of {estimate.error:g}")
