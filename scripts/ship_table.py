"""Pack a table again, as small as zstd can, for the package: the same values, the same digest.

    build-tablebase 7x6 --plies 0..12 --distances --counts off --dir DIR
    python scripts/ship_table.py DIR/connect4-7x6.h5

The walk packs quickly, because it packs hundreds of gigabytes. What is shipped is packed once
and downloaded often: level 22 makes it some tenths smaller and no slower to read. The result goes
to `tablebase/data`, where every command finds it. Beside it goes best play from the root to the
end, which the solver searches for where the table ends.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import zstandard

import tablebase as tb
from tablebase.files.frames import Packing
from tablebase.files.places import LINE_SUFFIX, SHIPPED
from tablebase.halves.chunks import pack_chunk
from tablebase.halves.format import CHUNK_WORDS
from tablebase.halves.store import PlyContent, TableFile, write_table

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKING = Packing(zstandard.MAX_COMPRESSION_LEVEL, checksum=True)


def packed(table: TableFile) -> Iterator[PlyContent]:
    """Every ply of a table, its chunks packed anew."""
    for ply in table.header.counted_plies:
        chunks, words = [], 0
        if ply in table.header.plies:
            words = table.words(ply)
            for number, planes in enumerate(table.chunks_checked(ply)):
                chunks.append(pack_chunk(number, planes, min(CHUNK_WORDS, words), PACKING))
        digests = b"".join(chunk.digest for chunk in chunks)
        frames = [(chunk.number, chunk.frames) for chunk in chunks]
        yield PlyContent(table.record(ply), words, frames, digests)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", type=Path)
    parser.add_argument("--out", type=Path, help="default: into the package")
    options = parser.parse_args()
    out = options.out or SHIPPED / options.table.name
    with TableFile(options.table) as table:
        words = sum(map(table.words, table.header.plies))
        write_table(out, table.header, packed(table), words)
        digest, before = table.digest, table.size
    with TableFile(out) as table:
        if table.digest != digest:
            raise SystemExit(f"{out} has another digest than {options.table}")
        print(f"{out}: {table.size:,} bytes, {before:,} before; digest {digest}")
    line = out.with_suffix(LINE_SUFFIX)
    line.unlink(missing_ok=True)  # not to be found while it is made
    with tb.open_tablebase(out) as shipped, tb.Oracle(shipped.board, [shipped]) as oracle:
        moves = [move.move for move in oracle.best_line(shipped.root).moves]
    line.write_text(" ".join(moves) + "\n")
    print(f"{line}: {len(moves)} plies")


if __name__ == "__main__":
    main()
