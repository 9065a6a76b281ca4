"""Tables and oracles that many threads ask, that somebody closes meanwhile, that are pickled."""

import pickle
import random
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import tablebase as tb
from retro.errors import MissingTableError, StorageError
from retro.games.catalogue import make_board
from tablebase.oracles import Oracle, oracle

THREADS, PATIENCE = 4, 60


def some_positions(board, number=12, plies=6):
    rng, found = random.Random(3), []
    while len(found) < number:
        position = board.start()
        for _ in range(rng.randrange(1, plies)):
            if position.is_over():
                break
            position = position.play(rng.choice(position.moves))
        if not position.is_over():
            found.append(position)
    return found


def in_threads(number, ask):
    together = threading.Barrier(number)

    def run(thread):
        together.wait(PATIENCE)
        return ask(thread)

    with ThreadPoolExecutor(number) as pool:
        return list(pool.map(run, range(number)))


def answers_of(asked, positions):
    """What every kind of question says of some positions, without what it cost."""
    found = []
    for position in positions:
        solved, line = asked.solve(position, strong=True), asked.best_line(position)
        moves = asked.analyse(position).moves
        found += [solved.value, solved.plies, moves, asked.probe(position).value, line.moves]
    return found


@pytest.fixture(scope="module")
def half_known(tmp_path_factory):
    """The first plies of a board, without distances: tables and searches take part."""
    folder = tmp_path_factory.mktemp("half")
    tb.build("4x4", folder=folder, plies=range(5, 12))
    return folder


def test_an_oracle_answers_all_threads_as_it_answers_one(half_known):
    positions = some_positions(make_board("4x4"))
    with oracle("4x4", folder=half_known, memory="1M") as alone:
        right = answers_of(alone, positions)
    with oracle("4x4", folder=half_known, memory="1M") as shared:
        found = in_threads(THREADS, lambda _: answers_of(shared, positions))
    assert found == THREADS * [right]


def test_an_oracle_of_every_game_answers_all_threads_as_it_answers_one(small, small_folder):
    positions = some_positions(small, 4, 2)
    for folder in (small_folder, small_folder / "none"):
        with oracle(small, folder=folder, memory="1M") as alone:
            right = answers_of(alone, positions)
        with oracle(small, folder=folder, memory="1M") as shared:
            assert in_threads(THREADS, lambda _, s=shared: answers_of(s, positions)) == (
                THREADS * [right]
            )


def test_an_oracle_does_not_wait_for_the_solver_of_another_one():
    first, second = (Oracle(make_board("4x4"), memory="1M") for _ in range(2))
    made = []
    # The second one is made while the first is about to make its own.
    first.before_search = lambda: in_threads(1, lambda _: made.append(second.solver))
    maker = threading.Thread(target=lambda: first.solver, daemon=True)
    maker.start()
    maker.join(PATIENCE)
    assert not maker.is_alive()
    assert made == [second.solver]


def ends_of_threads(path, ask):
    """What ended the questions of threads that ask until the table is closed."""
    table = tb.open_tablebase(path, cache_bytes=1)
    begun = threading.Barrier(THREADS + 1)

    def run(_):
        ask(table)
        begun.wait(PATIENCE)
        try:
            while True:
                ask(table)
        except Exception as error:
            return error

    with ThreadPoolExecutor(THREADS) as pool:
        ends = [pool.submit(run, thread) for thread in range(THREADS)]
        begun.wait(PATIENCE)
        table.close()
        return [end.result(PATIENCE) for end in ends]


@pytest.mark.parametrize("many", [False, True])
def test_who_asks_while_a_table_is_closed_is_told_so_or_answered(small, small_folder, many):
    positions = some_positions(small, 4, 2)
    with tb.open_tablebase(small, folder=small_folder) as table:
        path, right = table.path, [table.probe_wdl(p) for p in positions]
    states = small.states(positions)

    def ask(table):
        if many:
            values = table.probe_many(states).tolist()
        else:
            values = [table.probe_wdl(p) for p in positions]
        if values != right:
            raise AssertionError("a wrong answer")

    for _ in range(20):
        for end in ends_of_threads(path, ask):
            assert type(end) is StorageError
            assert str(end) == f"{path} is closed"


def test_the_file_is_closed_when_the_last_reader_has_left(built_4x4):
    table = tb.open_tablebase(built_4x4.path)
    file = table.reader._file
    with file.reading():
        table.close()
        assert file.record(3).ply == 3
        assert len(file._read_chunk(3, 0))  # what was begun goes on
        with pytest.raises(StorageError, match="is closed"):
            table.probe_wdl("44")
    assert not file._file


def test_a_table_is_pickled_as_its_path_and_digest(built_4x4, monkeypatch, tmp_path):
    monkeypatch.chdir(built_4x4.path.parent)
    with tb.open_tablebase(f"./{built_4x4.path.name}") as table:
        packed, value, digest = pickle.dumps(table), table.probe_wdl("23"), table.digest
    assert len(packed) < 1_000
    script = (
        "import pickle, sys; table = pickle.load(sys.stdin.buffer); "
        "print(table.probe_wdl('23'), table.digest)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], input=packed, capture_output=True, cwd=tmp_path, check=True
    )
    assert done.stdout.decode().split() == [str(value), digest]


def test_a_pickled_table_that_was_replaced_is_refused(built_4x4, built_5x4, tmp_path):
    path = tmp_path / "table.h5"
    shutil.copy(built_4x4.path, path)
    with tb.open_tablebase(path) as table:
        packed = pickle.dumps(table)
    shutil.copy(built_5x4.path, path)
    with pytest.raises(MissingTableError, match="not the table that was pickled: its digest is"):
        pickle.loads(packed)
    path.unlink()
    with pytest.raises(MissingTableError, match="no table at"):
        pickle.loads(packed)
