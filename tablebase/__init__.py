"""The kept thing: table files, questions and answers.

    from tablebase import open_tablebase

    with open_tablebase("5x4") as table:
        table.probe_wdl("443")
    with open_keyed("mnk", "4x4", connect="4") as table:      # other games
        table.probe_wdl("c3 b2")

The README runs such examples; `probe` explains what can be asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tablebase.build import build_tablebase
    from tablebase.keyed_probe import KeyedTable, open_keyed, open_keyed_file
    from tablebase.probe import Probe, Tablebase, open_tablebase

__all__ = [
    "KeyedTable",
    "Probe",
    "Tablebase",
    "build_tablebase",
    "open_keyed",
    "open_keyed_file",
    "open_tablebase",
]

_HOMES = {
    "open_tablebase": "tablebase.probe",
    "Tablebase": "tablebase.probe",
    "Probe": "tablebase.probe",
    "build_tablebase": "tablebase.build",
    "open_keyed": "tablebase.keyed_probe",
    "open_keyed_file": "tablebase.keyed_probe",
    "KeyedTable": "tablebase.keyed_probe",
}


def __getattr__(name: str) -> Any:
    """Import on first use: `import tablebase` alone loads neither numba nor h5py."""
    if name not in _HOMES:
        raise AttributeError(f"module 'tablebase' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
