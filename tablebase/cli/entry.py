"""Where the commands begin: Ctrl-C and SIGTERM get one line from the first moment on.

Imports take a good part of a second, and somebody may think better of it meanwhile, so the
commands are imported inside the guard. Later `common.run` has a guard of its own.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from importlib import import_module
from typing import TYPE_CHECKING

from retro.errors import EXIT_INTERRUPTED, DoesNotFitError

if TYPE_CHECKING:
    from sys import UnraisableHookArgs
    from types import FrameType

SOON = 0.05  # seconds
BUILD = ("tablebase.building.build", "build")  # the function that builds
# Bytes: Python, numpy, numba and h5py take 350 MB of it, compiling a build 200 MB more.
ADDRESS_SPACE = 640_000_000
EXIT_TERMINATED = 128 + signal.SIGTERM


def tablebase() -> int:
    """Entry point of `tablebase`."""
    return _guarded("tablebase.cli.main")


def build_tablebase() -> int:
    """Entry point of `build-tablebase`."""
    return _guarded("tablebase.cli.build")


def _guarded(module: str) -> int:
    sys.unraisablehook = interrupt_again
    received: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        """A polite request to stop, of a service manager, say, is a Ctrl-C."""
        received.append(number)
        if _is_importing(frame):
            # What is raised there may be caught, or come out as another error.
            status = _interrupted()
            os._exit(EXIT_TERMINATED if number == signal.SIGTERM else status)
        signal.default_int_handler(number, frame)

    signal.signal(signal.SIGTERM, stop)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else somebody ignores it
        signal.signal(signal.SIGINT, stop)
    if isinstance(sys.stdout, io.TextIOWrapper):  # names of files need not be text
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        _require_address_space()
        status: int = import_module(module).main()
    except DoesNotFitError as error:
        print(f"error: {error}", file=sys.stderr)
        status = error.exit_code
    except KeyboardInterrupt:
        status = _interrupted()
    except Exception:
        if not received:
            raise
        status = _interrupted()  # an import that was interrupted may say that it failed
    return EXIT_TERMINATED if signal.SIGTERM in received and status == EXIT_INTERRUPTED else status


def _require_address_space() -> None:
    """Refuse to begin with too little (`ulimit -v`): imports would fail, or the compiler abort."""
    try:
        import resource
    except ImportError:  # Windows
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return
    if limit < ADDRESS_SPACE:
        needed, given = (number // 1_000_000 for number in (ADDRESS_SPACE, limit))
        found = f"this process may take {given} MB of address space (ulimit -v)"
        raise DoesNotFitError(f"{found}; a command needs {needed} MB")
    # Its threads, which nothing here uses, would take 32 MB each.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _is_importing(frame: FrameType | None) -> bool:
    """Whether a signal met an import, but no build, which tidies up and says what is kept."""
    is_importing = False
    while frame is not None:
        if (frame.f_globals.get("__name__"), frame.f_code.co_name) == BUILD:
            return False
        is_importing |= frame.f_code.co_filename == "<frozen importlib._bootstrap>"
        frame = frame.f_back
    return is_importing


def _interrupted() -> int:
    print("interrupted", file=sys.stderr, flush=True)
    return EXIT_INTERRUPTED


def interrupt_again(dropped: UnraisableHookArgs) -> None:
    """Python drops what a signal raises within a `__del__` or a callback from C: repeat it soon.

    A Ctrl-C, or the end of a time limit, whose timer is stopped with the command.
    """
    from retro.errors import TimeLimitError

    if issubclass(dropped.exc_type, TimeLimitError):
        signal.setitimer(signal.ITIMER_REAL, SOON)
        return
    if not issubclass(dropped.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(dropped)
        return
    from threading import Timer

    timer = Timer(SOON, _interrupt_main_thread)
    timer.daemon = True
    timer.start()


def _interrupt_main_thread() -> None:
    """A real signal where there are some: it ends a wait within the system, too."""
    import threading

    main = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main is not None:
        signal.pthread_kill(main, signal.SIGINT)
    else:
        from _thread import interrupt_main

        interrupt_main()
