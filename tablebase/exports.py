"""A table as a file for other programs: Parquet, CSV or npz, with a data card beside it.

    ply, a, b          the ply and the two words of the state (`board.states_of` reads them)
    value, plies       for the side to move: 1, 0, -1; plies to the end, with distances
    value_A, plies_A   with moves, for each action A: for who makes it; empty if it is not legal

One row a position, ply by ply. Parquet and Arrow need the extra `arrow`, the others nothing.
"""

from __future__ import annotations

import csv
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retro.errors import BadTextError, MissingTableError
from retro.version import VERSION
from tablebase.files.atomic import storage_errors, whole_file
from tablebase.rows import Batch, batches, draw_positions, read_wanted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from tablebase.tables import Table

SUFFIXES = (".parquet", ".csv", ".npz")
CARD_SUFFIX = ".card.md"


class Which(NamedTuple):
    """Which positions are exported, and what of them."""

    moves: bool = False  # the values of moves, too
    canonical: bool = False  # one position of each symmetry class
    plies: Iterable[int] | None = None  # all
    sample: int | None = None  # so many by chance, instead of all
    seed: int | None = None


def export_batches(table: Table, which: Which) -> Iterator[Batch]:
    """The batches of an export."""
    if which.sample is None:
        plies = table.plies if which.plies is None else which.plies
        yield from batches(table, plies, moves=which.moves, canonical=which.canonical)
        return
    if which.plies is not None or which.canonical:
        raise BadTextError("a sample is drawn from all plies and all positions: leave the rest out")
    positions = draw_positions(table, which.sample, read_wanted(table, None, None), which.seed)
    positions.sort(key=lambda position: position.ply)
    states = table.board.states(positions)
    yield from batches(table, [], moves=which.moves, given=states)


def write_export(table: Table, path: Path, which: Which) -> int:
    """Write the file and its card; returns the number of rows."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise BadTextError(f"{path.name} names no format: {', '.join(SUFFIXES)} do")
    write = {".parquet": _write_parquet, ".csv": _write_csv, ".npz": _write_npz}[suffix]
    with storage_errors(path), whole_file(path, synced=False) as aside:
        rows, names = write(table, aside, export_batches(table, which))
    card = path.with_name(path.name + CARD_SUFFIX)
    with storage_errors(card), whole_file(card, synced=False) as aside:
        aside.write_text(_card(table, path, rows, names, which), encoding="utf-8")
    return rows


def _arrow() -> Any:
    try:
        pyarrow = import_module("pyarrow")
        import_module("pyarrow.parquet")
    except ImportError:
        raise MissingTableError(
            "Parquet and Arrow need the extra: pip install 'retro-tablebase[arrow]'"
        ) from None
    return pyarrow


def to_arrow(table: Table, which: Which) -> Any:
    """All rows as one Arrow table."""
    arrow = _arrow()
    parts = [_arrow_table(arrow, table, batch) for batch in export_batches(table, which)]
    if not parts:
        raise MissingTableError(f"{table.path} has no unfinished position there")
    return arrow.concat_tables(parts)


def _arrow_table(arrow: Any, table: Table, batch: Batch) -> Any:
    columns = {
        name: arrow.array(np.ma.getdata(column), mask=_mask(column))
        for name, column in batch.columns().items()
    }
    meta = {"board": str(table.board), "digest": table.digest, "value": "for the side to move"}
    return arrow.table(columns, metadata=meta)


def _mask(column: NDArray[Any]) -> NDArray[np.bool_] | None:
    return np.ma.getmaskarray(column) if isinstance(column, np.ma.MaskedArray) else None


def _write_parquet(table: Table, path: Path, found: Iterator[Batch]) -> tuple[int, tuple[str, ...]]:
    arrow, writer, rows = _arrow(), None, 0
    names: tuple[str, ...] = ()
    for batch in found:
        part = _arrow_table(arrow, table, batch)
        if writer is None:
            writer = arrow.parquet.ParquetWriter(path, part.schema, compression="zstd")
        writer.write_table(part)
        rows, names = rows + len(batch), tuple(part.column_names)
    if writer is None:
        raise MissingTableError(f"{table.path} has no unfinished position there")
    writer.close()
    return rows, names


def _write_csv(table: Table, path: Path, found: Iterator[Batch]) -> tuple[int, tuple[str, ...]]:
    rows = 0
    names: tuple[str, ...] = ()
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        for batch in found:
            columns = batch.columns()
            if not rows:
                names = tuple(columns)
                writer.writerow(names)
            lists = [
                ["" if cell is None else cell for cell in column.tolist()]
                for column in columns.values()
            ]
            writer.writerows(zip(*lists, strict=True))
            rows += len(batch)
    if not rows:
        raise MissingTableError(f"{table.path} has no unfinished position there")
    return rows, names


def _write_npz(table: Table, path: Path, found: Iterator[Batch]) -> tuple[int, tuple[str, ...]]:
    """The columns as arrays; of moves [row, action], with `legal` to tell which are."""
    parts: dict[str, list[NDArray[Any]]] = {}
    for batch in found:
        arrays = {"ply": np.full(len(batch), batch.ply, np.int16)}
        for name in ("a", "b", "value", "plies", "legal", "move_value", "move_plies"):
            if getattr(batch, name) is not None:
                arrays[name] = getattr(batch, name)
        for name, array in arrays.items():
            parts.setdefault(name, []).append(array)
    if not parts:
        raise MissingTableError(f"{table.path} has no unfinished position there")
    whole = {name: np.concatenate(arrays) for name, arrays in parts.items()}
    with path.open("wb") as file:
        np.savez_compressed(file, **whole)  # type: ignore[arg-type]
    return len(whole["a"]), tuple(whole)


FIELDS = {
    "ply": "moves made so far",
    "a": "first word of the state; `board.states_of(a, b)` reads both",
    "b": "second word of the state",
    "value": "1 win, 0 draw, -1 loss, for the side to move",
    "plies": "plies to the end: the winner hurries, the loser delays",
    "legal": "[row, action] whether the action is legal",
    "move_value": "[row, action] the value for who makes the move; 0 if it is not legal",
    "move_plies": "[row, action] plies to the end, the move included",
}


def _card(table: Table, path: Path, rows: int, names: tuple[str, ...], which: Which) -> str:
    """What the file holds, where it comes from, how to cite it."""
    board = table.board
    actions = [name for name in names if name.startswith(("value_", "plies_"))]
    fields = [f"- `{name}`: {FIELDS[name]}" for name in names if name in FIELDS]
    if actions:
        fields.append(
            "- `value_A`, `plies_A`: the same after action A, for who makes it; "
            "empty if it is not legal"
        )
    cite = f"retro-tablebase {VERSION}, exact table of {board.title}, {table.digest[:16]}"
    asked = {name: value for name, value in which._asdict().items() if value not in (None, False)}
    said = ", ".join(f"{name}={value}" for name, value in asked.items()) or "all positions"
    return "\n".join(
        [
            f"# {path.name}",
            "",
            f"Exact values of {rows:,} unfinished legal positions of {board.title} ({said}).",
            "",
            "## Fields",
            "",
            *fields,
            "",
            f"Actions: {board.game.arrays.rule}; there are {board.num_actions}.",
            "",
            "## Source",
            "",
            f"- Table: {table.title}, SHA-256 {table.digest}",
            f"- Written by retro-tablebase {VERSION}",
            "- Licence: the values are facts, free to use without conditions (CC0)",
            f"- Cite as: {cite}",
            "",
        ]
    )
