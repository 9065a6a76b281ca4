"""What all table files share, whatever their index: names, and the digest that seals them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from _typeshed import DataclassInstance

FORMAT = "retro-tablebase"
METRIC = "wdl"
LEFT_OUT = {"left_out": True}  # of a field of a header, see `said`


def ply_name(ply: int) -> str:
    """The group of a ply.

    >>> ply_name(7)
    'ply-07'
    """
    return f"ply-{ply:02d}"


def said(header: DataclassInstance) -> dict[str, object]:
    """What a header, or a ply, writes: all of its fields but those that are left out.

    A field with `LEFT_OUT` is not written, and not part of the digest, while it has its default:
    so a format can gain an attribute, and files without it stay what they are.
    """
    silent = [
        field.name
        for field in fields(header)
        if field.metadata.get("left_out") and getattr(header, field.name) == field.default
    ]
    return {name: value for name, value in asdict(header).items() if name not in silent}


def table_digest(
    header: DataclassInstance, value: int, records: Iterable[DataclassInstance]
) -> str:
    """SHA-256 over the JSON text of header, value and plies: sorted keys, no spaces."""
    content = {
        "header": said(header),
        "value": value,
        "plies": [said(record) for record in records],
    }
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
