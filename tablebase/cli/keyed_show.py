"""How answers from tables of any game look on the terminal and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retro.errors import IllegalPositionError
from retro.games.values import VALUE_NAMES
from tablebase.cli.show import print_file, print_json
from tablebase.format import COUNT_NAMES
from tablebase.units import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retro.games.catalogue import PlacementGame
    from retro.games.rated import RatedMove
    from tablebase.keyed_oracle import KeyedOracle
    from tablebase.keyed_probe import KeyedProbe, KeyedTable
    from tablebase.keyed_verify import KeyedVerified

__all__ = ["print_json"]

COLUMNS = (*COUNT_NAMES, "canonical_positions")


def _about(table: KeyedTable | KeyedOracle) -> dict[str, Any]:
    size, options = table.game.describe(table.board)
    return {"game": table.game.name, "board": size, "options": options}


def position_text(table: KeyedTable | KeyedOracle, position: Any) -> str | None:
    """A text that leads to a position, or None if there is none."""
    try:
        return table.game.write_position(position)
    except IllegalPositionError:
        return None


def stats_json(table: KeyedTable) -> dict[str, Any]:
    """The JSON of a table's counts; win, draw and loss are for the side to move."""
    return {
        **_about(table),
        "root": table.header.root,
        "side_to_move": table.root.side_to_move,
        "value": VALUE_NAMES[table.value],
        "positions": sum(record.positions for record in table.counts),
        "canonical_positions": sum(record.canonical_positions for record in table.counts),
        "plies": [
            {"ply": record.ply, **{name: getattr(record, name) for name in COLUMNS}}
            for record in table.counts
        ],
        "file": str(table.path),
        "size": table.size,
    }


def print_stats(table: KeyedTable) -> None:
    """A table per ply, the totals and the value of the root."""
    lines: list[tuple[str, ...]] = [("ply", *COUNT_NAMES, "classes")]
    lines += [(str(r.ply), *(f"{getattr(r, name):,}" for name in COLUMNS)) for r in table.counts]
    totals = [sum(getattr(record, name) for record in table.counts) for name in COLUMNS]
    lines.append(("total", *(f"{number:,}" for number in totals)))
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    images = " with their symmetric images" if table.header.root else ""
    print(
        f"{table.name}: positions{images}; win, draw, loss for the side to move; "
        "classes up to symmetry"
    )
    for line in lines:
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))
    where = repr(table.header.root) if table.header.root else "the empty board"
    side = table.root.side_to_move
    print(f"value of {where} for the {side} player: {VALUE_NAMES[table.value]}")
    print_file(table.path, table.size)


def print_turn(found: KeyedProbe, game: PlacementGame) -> None:
    side = found.position.side_to_move
    name = game.players[side == "second"]
    who = f"the {side} player" if name.lower() == side else f"{name}, the {side} player,"
    print(
        f"{who[0].upper()}{who[1:]} is to move: "
        f"{VALUE_NAMES[found.value]} for the {side} player, by {found.source}"
    )


def print_probe(oracle: KeyedOracle, found: KeyedProbe) -> None:
    """The board, whose turn it is, what the position and each move are worth."""
    position = found.position
    text = position_text(oracle, position)
    after = "" if not position.ply else f" after {text}" if text else ", set up"
    print(f"{oracle.name}{after}, ply {position.ply}")
    print_turn(found, oracle.game)
    print(f"\n{oracle.game.draw(position)}\n")
    print("what a move is worth to the player who makes it:")
    for value, name in VALUE_NAMES.items():
        moves = [move.move for move in found.moves if move.value == value]
        if moves:
            print(f"  {name:<4}  {' '.join(moves)}")


def probe_json(oracle: KeyedOracle, found: KeyedProbe) -> dict[str, Any]:
    """The JSON of an answer; values of moves are for the player who makes them."""
    return {
        **_about(oracle),
        "position": position_text(oracle, found.position),
        "side_to_move": found.position.side_to_move,
        "value": VALUE_NAMES[found.value],
        "source": found.source,
        "moves": [{"move": m.move, "value": VALUE_NAMES[m.value]} for m in found.moves],
        "best": [move.move for move in found.best],
    }


def print_line(oracle: KeyedOracle, start: KeyedProbe, line: Sequence[RatedMove]) -> None:
    """Whose turn it is, the moves, and how the game ends."""
    print_turn(start, oracle.game)
    print(" ".join(move.move for move in line))
    position = start.position
    for move in line:
        position = position.play(move.number)
    print(f"after {counted(len(line), 'ply', 'plies')} {position.over_message()}")


def line_json(oracle: KeyedOracle, start: KeyedProbe, line: Sequence[RatedMove]) -> dict[str, Any]:
    return {
        **_about(oracle),
        "position": position_text(oracle, start.position),
        "side_to_move": start.position.side_to_move,
        "value": VALUE_NAMES[start.value],
        "source": start.source,
        "line": [move.move for move in line],
        "plies": len(line),
    }


def print_verified(table: KeyedTable, done: KeyedVerified) -> None:
    print(f"{table.name}: sound at level {done.level} ({table.path})")
    print(f"plies with checked digests, keys and counts: {done.plies}")
    if done.positions:
        print(f"positions that agree with their successors: {done.positions:,}")
