"""What a guinea is asked to do: in a module of its own, so that its process can import it."""

import os


def die_with(code: int) -> None:
    """End the process at once."""
    os._exit(code)


def go_round() -> None:
    """Never end."""
    while True:
        pass
