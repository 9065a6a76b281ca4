"""How results look on the terminal and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retro.errors import IllegalPositionError
from retro.games.connect_text import column_text, write_grid, write_moves
from retro.games.values import VALUE_NAMES
from tablebase.format import COUNT_NAMES
from tablebase.units import counted, size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retro.games.connect import Board, Position
    from retro.games.rated import RatedMove
    from tablebase.format import Header, PlyRecord
    from tablebase.oracle import Line
    from tablebase.probe import Probe, Source
    from tablebase.strategy import Strategy

STRATEGY_COLUMNS = ("decide", "answer", "finished")


def print_json(content: dict[str, Any]) -> None:
    print(json.dumps(content))


def stats_json(header: Header, value: int, records: Sequence[PlyRecord]) -> dict[str, Any]:
    """The JSON of a table's counts; win, draw and loss are for the side to move."""
    return {
        "board": str(header.board),
        "connect": header.connect,
        "root": header.root,
        "side_to_move": header.root_position.side_to_move,
        "first_ply": header.first_ply,
        "last_ply": header.last_ply,
        "value": VALUE_NAMES[value],
        "positions": sum(record.positions for record in records),
        "plies": [
            {"ply": record.ply, **{name: getattr(record, name) for name in COUNT_NAMES}}
            for record in records
        ],
    }


def strategy_json(board: Board, found: Sequence[Strategy]) -> dict[str, Any]:
    """The JSON of strategy graphs; `value` is what the strategist is sure of."""
    strategies = [
        {
            "player": strategy.player,
            "value": VALUE_NAMES[strategy.value],
            **{name: getattr(strategy.total, name) for name in STRATEGY_COLUMNS},
            "positions": strategy.positions,
            "plies": [count._asdict() for count in strategy.plies],
        }
        for strategy in found
    ]
    return {"board": str(board), "connect": board.connect, "strategies": strategies}


def print_strategies(board: Board, found: Sequence[Strategy]) -> None:
    """A table per strategist: positions by ply and by what happens there."""
    for strategy in found:
        verb = "wins" if strategy.value else "draws"
        print(f"{board.name}: a strategy that {verb} for the {strategy.player} player")
        rows = [(str(count.ply), *count[1:]) for count in strategy.plies]
        rows.append(("total", *strategy.total[1:]))
        lines: list[tuple[str, ...]] = [("ply", *STRATEGY_COLUMNS)]
        lines += [(ply, *(f"{number:,}" for number in numbers)) for ply, *numbers in rows]
        print_columns(lines)
        print(f"positions: {strategy.positions:,}")
    print("decide: the strategist is to move and plays the first of the best moves;")
    print("answer: the opponent is to move and may play anything; finished: the game is over.")
    print("Each position counts once, mirror images apart.")


def print_columns(lines: Sequence[tuple[str, ...]]) -> None:
    """Rows of cells, each column as wide as it must be, aligned to the right."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))


def print_stats(header: Header, value: int, records: Sequence[PlyRecord]) -> None:
    """A table per ply, the totals and the value of the position it starts from."""
    lines: list[tuple[str, ...]] = [("ply", *COUNT_NAMES)]
    lines += [(str(r.ply), *(f"{getattr(r, name):,}" for name in COUNT_NAMES)) for r in records]
    totals = [sum(getattr(record, name) for record in records) for name in COUNT_NAMES]
    lines.append(("total", *(f"{number:,}" for number in totals)))
    print(f"{header.name}: legal positions; win, draw, loss for the side to move")
    print_columns(lines)
    if header.plies != header.counted_plies:
        print(f"values are kept of plies {header.first_ply} to {header.last_ply}")
    start = f"the position after {header.root}" if header.root else "the empty board"
    side = header.root_position.side_to_move
    print(f"value of {start} for the {side} player: {VALUE_NAMES[value]}")


def print_file(path: Path, number: int) -> None:
    print(f"file: {path} ({size(number)})")


def print_entries(entries: Sequence[dict[str, Any]]) -> None:
    """One line for every table."""
    names = [Path(entry["file"]).stem for entry in entries]
    width = max((len(name) for name in names), default=0)
    for name, entry in zip(names, entries, strict=True):
        side = entry.get("side_to_move", "first")
        print(
            f"{name:<{width}} {entry['positions']:>17,} positions  {entry['value']:<4} "
            f"for the {side} player  {size(entry['size']):>8}  {entry['file']}"
        )


def move_text(position: Position) -> str | None:
    """The moves that lead to a position, or None if none do."""
    try:
        return write_moves(position)
    except IllegalPositionError:
        return None


def probe_json(found: Probe) -> dict[str, Any]:
    """The JSON of an answer; values of moves are for the player who makes them."""
    return {
        "position": move_text(found.position),
        "board": str(found.position.board),
        "connect": found.position.board.connect,
        "grid": write_grid(found.position).split("\n"),
        "side_to_move": found.position.side_to_move,
        "value": VALUE_NAMES[found.value],
        "source": found.source,
        "moves": [{"move": m.move, "value": VALUE_NAMES[m.value]} for m in found.moves],
        "best": [move.move for move in found.best],
    }


def print_probe(found: Probe) -> None:
    """The board with a value under each column, whose turn it is and whose value that is."""
    position = found.position
    moves = move_text(position)
    after = "" if not position.ply else f" after {moves}" if moves else ", set up"
    print(f"{position.board.name}{after}, ply {position.ply}")
    print_turn(position, found.value, found.source)
    print()
    values = {move.number: VALUE_NAMES[move.value][0] for move in found.moves}
    for row in write_grid(position).split("\n")[1:]:
        print(f"  {row}")
    columns = range(position.board.width)
    print("  " + " ".join(column_text(column) for column in columns))
    print("  " + " ".join(values.get(column, "-") for column in columns), end="")
    print("   W D L: what a move there is worth to the player who makes it")
    print()
    print(f"best: {' '.join(move.move for move in found.best)}")


def analysis_json(moves: Sequence[RatedMove]) -> dict[str, Any]:
    """The JSON of every move with its distance, best first, and of the position's value."""
    rated = [{"move": m.move, "value": VALUE_NAMES[m.value], "plies": m.plies} for m in moves]
    return {"value": VALUE_NAMES[moves[0].value], "moves": rated}


def print_analysis(moves: Sequence[RatedMove], line: str) -> None:
    """A row per move, best first, and the main line."""
    print("move  value  plies to the end   (for the player who moves, best first)")
    for move in moves:
        print(f"{move.move:>4}  {VALUE_NAMES[move.value]:<5}  {move.plies:>5}")
    print(f"line: {line}")


def print_turn(position: Position, value: int, source: Source) -> None:
    side = position.side_to_move
    print(
        f"White (0), the {side} player, is to move: "
        f"{VALUE_NAMES[value]} for the {side} player, by {source}"
    )


def line_json(line: Line) -> dict[str, Any]:
    return {
        "position": move_text(line.position),
        "side_to_move": line.position.side_to_move,
        "value": VALUE_NAMES[line.value],
        "source": line.source,
        "line": "".join(move.move for move in line.moves),
        "plies": len(line.moves),
    }


def print_line(line: Line) -> None:
    """Whose turn it is, the moves, and how the game ends."""
    print_turn(line.position, line.value, line.source)
    print(" ".join(move.move for move in line.moves))
    position = line.position
    for move in line.moves:
        position = position.play(move.number)
    print(f"after {counted(len(line.moves), 'ply', 'plies')} {position.over_message()}")
