"""Where the commands begin: Ctrl-C gets one line from the first moment on.

Imports take a good part of a second, and somebody may think better of it meanwhile, so the
commands are imported inside the guard. Later `common.run` has a guard of its own.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

from retro.errors import EXIT_INTERRUPTED

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

SOON = 0.05  # seconds


def tablebase() -> int:
    """Entry point of `tablebase`."""
    return _guarded("tablebase.cli.main")


def build_tablebase() -> int:
    """Entry point of `build-tablebase`."""
    return _guarded("tablebase.cli.build")


def _guarded(module: str) -> int:
    sys.unraisablehook = interrupt_again
    try:
        status: int = import_module(module).main()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr, flush=True)
        return EXIT_INTERRUPTED
    return status


def interrupt_again(dropped: UnraisableHookArgs) -> None:
    """Python drops a Ctrl-C that comes within a `__del__` or a callback from C: repeat it soon."""
    if not issubclass(dropped.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(dropped)
        return
    from _thread import interrupt_main
    from threading import Timer

    timer = Timer(SOON, interrupt_main)
    timer.daemon = True
    timer.start()
