"""`tablebase serve`: the explorer, a page where people play, look and learn."""

from __future__ import annotations

import argparse
import re
import webbrowser
from typing import TYPE_CHECKING

from retro.errors import BadTextError
from tablebase.cli.grammar import Command
from tablebase.cli.guard import say
from tablebase.cli.options import add_folder, count, memory_size, seconds
from tablebase.cli.overview import HELP

if TYPE_CHECKING:
    from tablebase.cli.grammar import Asked

DEFAULT_PORT = 8000
MOST_WORKERS = 64


def _port(text: str) -> int:
    """A port; 0 takes any that is free."""
    if not re.fullmatch(r"[0-9]{1,5}", text, re.ASCII) or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"found {text!r}, wanted a port from 0 to 65535")
    return int(text)


def _origin(text: str) -> str:
    """Where a page comes from, as browsers say it."""
    if not re.fullmatch(r"\*|https?://[a-z0-9.\-\[\]:]{1,200}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no origin, such as https://example.org or *")
    return text


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--port",
        type=_port,
        default=DEFAULT_PORT,
        metavar="N",
        help=f"listen on this port (default: {DEFAULT_PORT})",
    )
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="listen on this address (default: this machine only)",
    )
    parser.add_argument(
        "--name",
        action="append",
        default=[],
        metavar="HOST",
        help="accept this Host name, too, for example behind a proxy (repeatable)",
    )
    parser.add_argument(
        "--allow-origin",
        type=_origin,
        action="append",
        default=[],
        metavar="ORIGIN",
        help="let pages of another site read answers, * for any (repeatable)",
    )
    parser.add_argument(
        "--workers", type=count, default=1, metavar="N", help="use N processes that share the port"
    )
    parser.add_argument(
        "--searches",
        type=count,
        default=2,
        metavar="N",
        help="allow N searches at once in each process (default: 2)",
    )
    parser.add_argument(
        "--time-limit",
        type=seconds,
        default=20.0,
        metavar="S",
        help="stop a search after S seconds (default: 20)",
    )
    parser.add_argument(
        "--memory",
        type=memory_size,
        default="64M",
        metavar="SIZE",
        help="use at most this much memory for a search (default: 64M)",
    )
    parser.add_argument(
        "--build-memory",
        type=memory_size,
        default="1G",
        metavar="SIZE",
        help="use at most this much memory for a build (default: 1G)",
    )
    add_folder(parser)


def serve_command(asked: Asked) -> int:
    from tablebase.web.searches import Limits
    from tablebase.web.server import Service, listen, serve

    options = asked.options
    if options.workers > MOST_WORKERS:
        raise BadTextError(f"found {options.workers} workers, wanted at most {MOST_WORKERS}")
    service = Service(
        folder=options.dir,
        host=options.host,
        port=options.port,
        names=tuple(options.name),
        origins=tuple(options.allow_origin),
        workers=options.workers,
        limits=Limits(options.searches, options.time_limit, options.memory),
        build_memory=options.build_memory,
    )
    listener = listen(service)
    port = listener.getsockname()[1]
    address = f"http://{'localhost' if service.is_local else service.host}:{port}/"

    def ready() -> None:
        print(f"the explorer is at {address}", flush=True)
        if service.workers == 1:
            print(f"token for building tables: {service.token}", flush=True)
        if not service.is_local:
            say("warning: other machines can ask this service; it has no passwords and no https")
        if options.open:
            token = f"#token={service.token}" if service.workers == 1 else ""
            webbrowser.open(f"{address}{token}")

    serve(service, listener, ready)
    return 0


COMMANDS = (
    Command(
        "serve",
        HELP["serve"],
        serve_command,
        _add_options,
        board="none",
        has_json=False,
    ),
)
