"""A solver that many threads ask answers each of them as if it were alone.

Slices are tiny here, so that searches change hands hundreds of times within a test.
"""

import contextlib
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from retro.deadline import Deadline
from retro.errors import TimeLimitError
from retro.games.catalogue import make_board
from retro.search import Solver
from retro.search.engine import Watch, unwatched
from retro.search.generic import search as generic_search
from retro.search.turns import WAITING, Spare, Turns

# A board of every game and engine, and the plies that are played at random before it is asked.
BOARDS = (
    ("5x4", 4),
    ("domineering 5x4", 2),
    ("mnk 4x3 connect=3", 2),
    ("notakto 4x3", 2),
    ("puissance-plus 3x3 target=5 values=121/232/121", 2),
    ("quarto", 10),
    ("mnk 13x5 connect=5", 61),  # more cells than kernels take
)
POSITIONS, EACH = 10, 8
PATIENCE = 60  # seconds after which a thread is said to hang


class CalledOffError(Exception):
    """What a report raises when its caller has gone."""


def some_positions(board, plies):
    rng, found = random.Random(6), []
    while len(found) < POSITIONS:
        position = board.start()
        while position.ply < plies and not position.is_over():
            position = position.play(rng.choice(position.moves))
        if not position.is_over() and position not in found:
            found.append(position)
    return found


@pytest.fixture
def tiny_slices(monkeypatch):
    monkeypatch.setattr(generic_search, "FIRST_SLICE", 7)
    monkeypatch.setattr(generic_search, "SLICE_SECONDS", 0.0002)


def in_threads(number, ask):
    """All that `ask(thread)` says in each of some threads, which begin together."""
    together = threading.Barrier(number)

    def run(thread):
        together.wait(PATIENCE)
        return ask(thread)

    with ThreadPoolExecutor(number) as pool:
        return [said for answers in pool.map(run, range(number)) for said in answers]


def line_of(moves):
    return [(move.move, move.value, move.plies) for move in moves]


@pytest.mark.usefixtures("tiny_slices")
@pytest.mark.parametrize("threads", [2, 4, 8])
@pytest.mark.parametrize(("name", "plies"), BOARDS)
def test_all_threads_get_what_one_gets(name, plies, threads):
    """With searches called off in between, by their time or by who looks on."""
    board = make_board(name)
    positions = some_positions(board, plies)
    alone = Solver(board, memory="1M")
    right = [alone.solve(p, strong=True) for p in positions]
    right = dict(zip(positions, ((x.value, x.plies) for x in right), strict=True))
    here = threading.local()

    def report(*_):
        if getattr(here, "leaves", False):
            raise CalledOffError

    shared = Solver(board, memory="64K", slice_nodes=30, report=report)

    def ask(thread):
        rng, wrong = random.Random(thread), []
        for _ in range(EACH):
            asked, left = rng.choice(positions), rng.choice(positions)
            here.leaves = rng.random() < 0.5
            limit = None if here.leaves else Deadline(0.0001)
            with contextlib.suppress(CalledOffError, TimeLimitError):
                found = shared.solve(left, strong=rng.random() < 0.5, clock=limit)
                wrong += [left] * (found.value != right[left][0])
            here.leaves = False
            few = shared.solve_within(left, rng.randrange(1, 100))
            wrong += [left] * (few is not None and few.value != right[left][0])
            found = shared.solve(asked, strong=True)
            wrong += [asked] * ((found.value, found.plies) != right[asked])
        return [(position.text, right[position]) for position in wrong]

    assert in_threads(threads, ask) == []
    later = [shared.solve(p, strong=True) for p in positions]  # nothing wrong was left behind
    assert [(x.value, x.plies) for x in later] == [*right.values()]


@pytest.mark.usefixtures("tiny_slices")
@pytest.mark.parametrize(("name", "plies"), BOARDS)
def test_lines_and_analyses_are_the_same_in_all_threads(name, plies):
    board = make_board(name)
    positions = some_positions(board, plies + 2)[:4]
    has_states = board.cells <= 64
    alone = Solver(board, memory="1M")

    def answers(solver, position):
        line, moves = solver.best_line(position), solver.analyse(position)
        best = solver.best_move(position)
        many = solver.solve_many([position, position], True) if has_states else ()
        arrays = [many.values.tolist(), many.plies.tolist()] if has_states else []
        return position.text, line_of(line), line_of(moves), line_of([best]), arrays

    right = [answers(alone, p) for p in positions]
    shared = Solver(board, memory="64K", slice_nodes=30)
    found = in_threads(4, lambda _: [answers(shared, p) for p in positions])
    assert found == 4 * right


def test_helpers_of_several_questions_stay_apart():
    """Threads of one question within those of several, over one table that grows."""
    board = make_board("6x5")
    positions = some_positions(board, 8)
    alone = Solver(board, memory="16M")
    right = [(x.value, x.plies) for x in (alone.solve(p, strong=True) for p in positions)]
    shared = Solver(board, memory="16M", threads=2, slice_nodes=500)

    def ask(thread):
        found = [shared.solve(p, strong=True) for p in positions[thread:] + positions[:thread]]
        found = [(x.value, x.plies) for x in found]
        return found[POSITIONS - thread :] + found[: POSITIONS - thread]

    assert in_threads(3, ask) == 3 * right


def test_forgetting_while_others_ask():
    board = make_board("5x4")
    positions = some_positions(board, 4)
    alone = Solver(board, memory="1M")
    right = [(x.value, x.plies) for x in (alone.solve(p, strong=True) for p in positions)]
    shared = Solver(board, memory="64K", slice_nodes=30)

    def ask(thread):
        if thread:
            found = [shared.solve(p, strong=True) for p in positions]
            return [(x.value, x.plies) for x in found]
        for _ in range(50):
            shared.forget()
        return []

    assert in_threads(4, ask) == 3 * right


def test_a_short_question_does_not_wait_for_a_long_one():
    """The long one would take hours; it is called off once the short ones have their answers."""
    began, answered = threading.Event(), threading.Event()

    def report(*_):
        began.set()
        if answered.is_set():
            raise CalledOffError

    def ask_long():
        with pytest.raises(CalledOffError):
            solver.solve("")

    board = make_board("8x7")
    solver = Solver(board, memory="32M", slice_nodes=20_000, report=report)
    alone = Solver(board, memory="32M")
    short = some_positions(board, 44)[:4]
    right = [alone.solve(p).value for p in short]  # by now kernels are compiled
    with ThreadPoolExecutor(1) as pool:
        long = pool.submit(ask_long)
        try:
            assert began.wait(PATIENCE)
            found = [solver.solve(p, clock=Deadline(PATIENCE)).value for p in short]
            assert not long.done()
        finally:
            answered.set()
        long.result(PATIENCE)
    assert found == right


def test_who_waits_can_be_limited_and_called_off():
    turns, said = Turns(), []

    def wait(watch):
        with turns.take(watch, 7):
            raise AssertionError("it is somebody else's turn")

    def leave(*report):
        said.append(report)
        raise CalledOffError

    with turns.take(unwatched()), ThreadPoolExecutor(1) as pool:
        begin = time.monotonic()
        limited = pool.submit(wait, Watch(Deadline(0.05), lambda *_: None))
        with pytest.raises(TimeLimitError, match=r"within 0\.05 s"):
            limited.result(PATIENCE)
        assert 0.05 <= time.monotonic() - begin < PATIENCE
        with pytest.raises(CalledOffError):
            pool.submit(wait, Watch(Deadline(), leave)).result(PATIENCE)
    assert [(nodes, what) for nodes, _, what in said] == [(7, WAITING)]
    with turns.take(Watch(Deadline(0), leave)):
        pass  # neither of them took a turn with it


def test_nobody_has_two_turns_while_another_one_waits():
    turns, order = Turns(), []

    def wait():
        with turns.take(unwatched()):
            order.append("who waited")

    with ThreadPoolExecutor(1) as pool:
        with turns.take(unwatched()):
            waiting = pool.submit(wait)
            while not turns._next.locked():
                time.sleep(0.001)
        with turns.take(unwatched()):
            order.append("who had the turn before")
        waiting.result(PATIENCE)
    assert order == ["who waited", "who had the turn before"]


def test_scratch_belongs_to_one_at_a_time():
    spare, used, twice = Spare(object), set(), []

    def run(_):
        for _ in range(200):
            with spare.take() as scratch:
                twice.extend([scratch] * (scratch in used))
                used.add(scratch)
                used.discard(scratch)
        return []

    in_threads(8, run)
    assert twice == []
