"""How answers look on the terminal. One pair of signs: X the first player's, O the second's."""

from __future__ import annotations

import json
from itertools import zip_longest
from typing import TYPE_CHECKING

from retro.errors import MissingTableError
from retro.games.values import VALUE_NAMES
from tablebase.answers import COUNT_NAMES, DISTANCE_NAMES
from tablebase.cli.colour import paint_board, paint_value
from tablebase.units import counted, duration, size

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from retro.answers import Line, Probe, RatedMove
    from retro.games.game import Board, Position
    from tablebase.answers import Json, PlyPositions, Verified
    from tablebase.building.plan import Plan
    from tablebase.strategy import Strategy
    from tablebase.tables import Table

STRATEGY_COLUMNS = ("decide", "answer", "finished")
USUAL_ORDER = "WIDTHxHEIGHT"
SOURCES = {"both": "table and search", "rules": "the rules"}


def print_json(content: Json) -> None:
    print(json.dumps(content))


def print_columns(lines: Sequence[tuple[str, ...]]) -> None:
    """Rows of cells, each column as wide as it must be, aligned to the right."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))


def title(board: Board) -> str:
    """The name of a board, and how its size is meant where that is not the usual way.

    >>> from retro.games.catalogue import make_board
    >>> title(make_board("5x4")), title(make_board("domineering", "3x4"))
    ('connect4-5x4', 'domineering-3x4 (ROWSxCOLS)')
    """
    order = board.game.size_order
    return board.name if order == USUAL_ORDER else f"{board.name} ({order})"


def source_text(source: str) -> str:
    return SOURCES.get(source, source)


def end_text(plies: int | None) -> str:
    return "" if plies is None else f" in {counted(plies, 'ply', 'plies')}"


def print_turn(position: Position, value: int, plies: int | None, source: str) -> None:
    """Whose turn it is, and whose value what is."""
    side, name = position.side_to_move, position.mover_name
    who = f"the {side} player" if name.lower() == side else f"{name}, the {side} player,"
    worth = paint_value(VALUE_NAMES[value], value)
    print(
        f"{who[0].upper()}{who[1:]} is to move: {worth} for the {side} player"
        f"{end_text(plies)}, by {source_text(source)}"
    )


def print_probe(probe: Probe) -> None:
    """The board, whose turn it is, what the position and each move are worth."""
    position = probe.position
    text = position._text_or_none()
    after = "" if not position.ply else f" after {text}" if text else ", set up"
    print(f"{title(position.board)}{after}, ply {position.ply}")
    print_turn(position, probe.value, probe.plies, probe.source)
    print(f"\n{paint_board(position)}")
    values = _under_labels(str(position).splitlines()[-1], probe.moves)
    if values is not None:
        print(f"{values}   W D L: what a move there is worth to the player who makes it\n")
    else:
        print("\nwhat a move is worth to the player who makes it:")
        for value, name in VALUE_NAMES.items():
            moves = [move.move for move in probe.moves if move.value == value]
            if moves:
                print(f"  {paint_value(f'{name:<4}', value)}  {' '.join(moves)}")
        print()
    print(f"best: {' '.join(move.move for move in probe.best)}")


def _under_labels(labels: str, moves: Sequence[RatedMove]) -> str | None:
    """A value under each label of a picture's last line, if it names all moves: columns."""
    values = {move.move: paint_value(VALUE_NAMES[move.value][0], move.value) for move in moves}
    words = labels.split()
    if not set(values) <= set(words) or any(len(word) > 1 for word in words):
        return None
    return "".join(letter if letter == " " else values.get(letter, "-") for letter in labels)


def print_line(line: Line) -> None:
    """Whose turn it is, the moves, and how the game ends."""
    print_turn(line.position, line.value, line.plies, line.source)
    print(" ".join(move.move for move in line.moves))
    print(f"after {counted(line.plies, 'ply', 'plies')} {line.end.over_message()}")


def print_moves(moves: Sequence[RatedMove]) -> None:
    """A row per move, best first, with its distance; seen at once."""
    print("move  value  plies to the end   (for the player who moves, best first)")
    for move in moves:
        name = paint_value(f"{VALUE_NAMES[move.value]:<5}", move.value)
        print(f"{move.move:>4}  {name}  {move.plies:>5}", flush=True)


def print_counts_csv(table: Table) -> None:
    """The counts, a row a ply."""
    if not table.is_counted:
        raise MissingTableError(f"{table.path} was built with --counts off: it has no counts")
    print(",".join(("ply", *COUNT_NAMES, "classes", "sha256")))
    for counts in table.counts:
        numbers = [getattr(counts, name) for name in ("ply", *COUNT_NAMES, "classes")]
        print(*("" if number is None else number for number in numbers), counts.sha256, sep=",")


def print_stats(table: Table) -> None:
    """A table per ply, the totals and the value of the position it starts from."""
    if table.is_counted:
        _print_counts(table)
    else:
        print(f"{title(table.board)}: positions are not counted (built with --counts off)")
    counted_plies = (table.counts[0].ply, table.counts[-1].ply)
    if counted_plies != (table.plies[0], table.plies[-1]):
        print(f"values are kept of plies {table.plies[0]} to {table.plies[-1]}")
    if table.has_distances and table.is_counted:
        _print_distances(table)
    print_result(table)


def print_positions(root: Position, counted: Sequence[PlyPositions]) -> None:
    """Positions and finished games ply by ply, and their sums."""
    text = root.root_text
    print(f"{title(root.board)}{f' from {text}' if text else ''}: legal positions")
    lines: list[tuple[str, ...]] = [("ply", "positions", "terminal")]
    lines += [(str(ply), *(f"{number:,}" for number in numbers)) for ply, *numbers in counted]
    lines.append(
        ("total", *(f"{sum(column):,}" for column in list(zip(*counted, strict=True))[1:]))
    )
    print_columns(lines)


def print_result(table: Table) -> None:
    """The value of the position that a table starts from, and the file: a line each."""
    root, side = table.root.root_text, table.root.side_to_move
    start = f"the position after {root}" if root else "the empty board"
    print(f"value of {start} for the {side} player: {VALUE_NAMES[table.value]}")
    print(f"file: {table.path} ({size(table.size)})")


def _print_counts(table: Table) -> None:
    has_classes = all(counts.classes is not None for counts in table.counts)
    names = (*COUNT_NAMES, *(("classes",) if has_classes else ()))
    rows = [[getattr(counts, name) for name in names] for counts in table.counts]
    longest = ("longest win", "longest loss") if table.has_distances else ()
    lines: list[tuple[str, ...]] = [("ply", *names, *longest)]
    for counts, row in zip(table.counts, rows, strict=True):
        more = (counts.longest_win, counts.longest_loss)[: len(longest)]
        ends = ("-" if plies is None else str(plies) for plies in more)
        lines.append((str(counts.ply), *(f"{number:,}" for number in row), *ends))
    totals = (f"{sum(column):,}" for column in zip(*rows, strict=True))
    lines.append(("total", *totals, *("" for _ in longest)))
    is_rooted = bool(table.root.root_text)
    images = " with their symmetric images" if is_rooted and has_classes else ""
    print(f"{title(table.board)}: legal positions{images}; win, draw, loss for the side to move")
    print_columns(lines)


def _print_distances(table: Table) -> None:
    """How many positions end in so many plies."""
    counted = [
        [
            sum(ends)
            for ends in zip_longest(*(getattr(c, name) or () for c in table.counts), fillvalue=0)
        ]
        for name in DISTANCE_NAMES
    ]
    lines: list[tuple[str, ...]] = [("plies to the end", *COUNT_NAMES[1:4])]
    for plies, numbers in enumerate(zip_longest(*counted, fillvalue=0)):
        if any(numbers):
            lines.append((str(plies), *(f"{number:,}" for number in numbers)))
    print_columns(lines)


def print_plan(plan: Plan, path: Path, fits: bool) -> None:
    """What a build will take."""
    about = "" if plan.error <= 1 else "about "
    print(f"{title(plan.board)} would go to {path}")
    print(f"positions         {about}{plan.positions:,}")
    print(f"time              about {duration(plan.seconds)}")
    print(f"memory            {about}{size(plan.memory)}", end=" ")
    print(f"({size(plan.least_memory)} at least, with --memory)")
    print(f"disk              {about}{size(plan.disk)}", end=" ")
    print(f"({size(plan.disk_while_building)} while building)")
    if plan.schedule is not None:
        memory = plan.schedule.task_memory
        each = "of whole layers" if memory is None else f"of {size(memory)}"
        workers = counted(plan.schedule.workers, "worker", "workers")
        print(f"tasks             {each}, {workers}")
        print(f"work              {plan.seconds * plan.workers / 3600:.3g} core-hours")
        print(f"stored            {plan.schedule.stored:.3g} positions, with padding")
        print(f"largest block     {size(plan.schedule.uncut)} with all it reads; cut into strips")
    print(f"fits here         {'yes' if fits else 'no'}")
    lines: list[tuple[str, ...]] = [("ply", "positions", "time", "memory")]
    lines += [
        (str(ply), f"{of_ply.positions:,}", duration(of_ply.seconds), size(of_ply.memory))
        for ply, of_ply in plan.plies.items()
    ]
    print_columns(lines)
    if about:
        print(f"after {counted(plan.exact_plies, 'ply', 'plies')} by sampling; ", end="")
        print(f"the number of positions is right within a factor of {plan.error:g}")


def print_verified(table: Table, done: Verified) -> None:
    """What was checked of a sound table."""
    print(f"{title(table.board)}: sound at level {done.level} ({table.path})")
    if done.counted and done.plies:
        print(f"plies with checked digests and counts: {done.plies}")
    elif done.counted:
        print(f"plies with checked counts: {done.counted}")
    elif done.plies:
        why = "counted anew with --counts only" if table.is_counted else "not counted"
        print(f"plies with checked digests: {done.plies}; {why}")
    for number, what in (
        (done.positions, "agree with their successors"),
        (done.searched, "a plain search confirmed"),
        (done.solver, "the solver confirmed"),
    ):
        if number:
            print(f"positions that {what}: {number:,}")


def print_entries(titles: Sequence[str], tables: Sequence[Json]) -> None:
    """One line for every table: what its header says it is, and its JSON."""
    width = max((len(title) for title in titles), default=0)
    for name, table in zip(titles, tables, strict=True):
        number = table["positions"]
        positions = "not counted" if number is None else f"{number:,} positions"
        print(
            f"{name:<{width}} {positions:>27}  {table['value']:<4} "
            f"for the {table['side_to_move']} player  {size(table['size']):>8}  {table['file']}"
        )


def print_strategies(root: Position, found: Sequence[Strategy]) -> None:
    """A table per strategist: positions by ply and by what happens there."""
    board, text = root.board, root.root_text
    where = f" after {text}" if text else ""
    for strategy in found:
        verb = "wins" if strategy.value else "draws"
        print(f"{title(board)}{where}: a strategy that {verb} for the {strategy.player} player")
        rows = [(str(count.ply), *count[1:]) for count in strategy.plies]
        rows.append(("total", *strategy.total[1:]))
        lines: list[tuple[str, ...]] = [("ply", *STRATEGY_COLUMNS)]
        lines += [(ply, *(f"{number:,}" for number in numbers)) for ply, *numbers in rows]
        print_columns(lines)
        print(f"positions: {strategy.positions:,}")
    print("decide: the strategist is to move and plays the first of the best moves;")
    print("answer: the opponent is to move and may play anything; finished: the game is over.")
    print("Each position counts once, symmetric images apart.")
