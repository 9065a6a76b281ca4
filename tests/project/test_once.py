"""What threads ask for at the same moment is made once, and each object has its own."""

import pickle
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from retro.once import once

THREADS = 8


class Owner:
    def __init__(self) -> None:
        self.made = 0

    @once
    def thing(self) -> list[int]:
        time.sleep(0.01)  # long enough for all others to ask
        self.made += 1
        return [self.made]


def test_threads_that_ask_together_get_the_same() -> None:
    owner, together = Owner(), threading.Barrier(THREADS)

    def ask(_: int) -> list[int]:
        together.wait()
        return owner.thing

    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(ask, range(THREADS)))
    assert owner.made == 1
    assert all(thing is found[0] for thing in found)
    assert Owner().thing is not found[0]


def test_an_owner_is_pickled_with_what_it_has_made() -> None:
    owner = Owner()
    assert owner.thing == [1]
    assert pickle.loads(pickle.dumps(owner)).thing == [1]


def test_what_is_forgotten_is_made_again() -> None:
    owner = Owner()
    assert owner.thing == [1]
    del owner.__dict__["thing"]
    assert owner.thing == [2]
