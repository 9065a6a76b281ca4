"""The referee: whatever a player does, the game gets a record and the match goes on."""

import os
import random
import signal
import sys
import textwrap
import time
from pathlib import Path

import pytest

from retro.errors import BadTextError
from retro.games.catalogue import NAMES, find_game, make_board
from retro.play.external import own_player
from retro.play.player import Player
from retro.play.players import RandomPlayer, make_player, read_spec
from retro.play.referee import Leave, referee
from tablebase.players import Means, Players

BOARD = make_board("mnk", "3x3")
AMPLE = 120.0  # seconds: a busy machine must not fail a test


class Scripted(Player):
    """Answers what it is told to, then the first legal move."""

    name = "scripted"

    def __init__(self, *answers):
        self.answers, self.seen, self.side = list(answers), [], None

    def reset(self, board, side):
        self.seen, self.side = [], side

    def choose(self, position):
        answer = self.answers.pop(0) if self.answers else position._numbers()[0]
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def observe(self, position, move):
        self.seen.append(position._text_of(move))


def test_the_record_tells_the_game() -> None:
    first, second = Scripted(), Scripted()
    first.nodes, first.remark = 7, "why"
    record = referee(BOARD, first, second, opening=("b2",))
    assert record.result is not None
    assert first.seen == second.seen == record.text.split()
    assert (first.side, second.side) == ("first", "second")
    assert record.entries[0].cost.remark == "opening"
    assert {entry.cost.nodes for entry in record.entries[2::2]} == {7}
    assert record.entries[2].cost.seconds is not None


@pytest.mark.parametrize(
    ("answer", "reason", "words"),
    [
        (10**30, "illegal move", "answered 1000"),
        (-1, "illegal move", "answered -1"),
        ("b2", "illegal move", "answered 'b2', which is no move"),
        (None, "illegal move", "answered None"),
        (True, "illegal move", "answered True"),
        (1.0, "illegal move", "answered 1.0"),
        (ZeroDivisionError("oops"), "crash", "ZeroDivisionError: oops"),
        (BadTextError("what"), "illegal move", "what"),
        (TimeoutError("slow"), "crash", "slow"),
    ],
)
def test_a_fault_loses_the_game(answer, reason, words) -> None:
    for players, winner in (
        ((Scripted(answer), Scripted()), "second"),
        ((Scripted(), Scripted(answer)), "first"),
    ):
        result = referee(BOARD, *players).result
        assert (result.winner, result.reason) == (winner, reason)
        assert words in result.words


def test_a_taken_cell_is_named() -> None:
    cell = BOARD.start()._number_of("b2")
    result = referee(BOARD, Scripted(cell), Scripted(cell)).result
    assert (result.winner, result.reason) == ("first", "illegal move")
    assert "taken" in result.words


@pytest.mark.parametrize("method", ["reset", "observe"])
def test_faults_while_it_listens_lose_as_well(method) -> None:
    deaf = Scripted()

    def fail(*_):
        raise RuntimeError("deaf")

    setattr(deaf, method, fail)
    result = referee(BOARD, Scripted(), deaf).result
    assert (result.winner, result.reason) == ("first", "crash")


def test_too_late_loses_and_leaving_passes() -> None:
    class Slow(Scripted):
        def choose(self, position):
            time.sleep(0.05)
            return super().choose(position)

    result = referee(BOARD, Slow(), Scripted(), seconds=0.02).result
    assert (result.winner, result.reason) == ("second", "time-out")
    with pytest.raises(Leave):
        referee(BOARD, Scripted(Leave()), Scripted())
    with pytest.raises(KeyboardInterrupt):
        referee(BOARD, Scripted(KeyboardInterrupt()), Scripted())


def program(folder: Path, body: str) -> str:
    """A program in Python, spoken to by lines; `position` is ours to know, not its."""
    path = folder / "program"
    path.write_text(f"#!{sys.executable}\nimport sys, time, os\n" + textwrap.dedent(body))
    path.chmod(0o755)
    return f"exec:{path}"


# Plays cells in order, whatever happens; keeps what it was told in a file.
IN_ORDER = """
cells = []
for line in sys.stdin:
    print(line, end="", file=sys.stderr)
    with open(sys.argv[0] + ".log", "a") as log: log.write(line)
    word, _, rest = line.strip().partition(" ")
    if word == "board": cells = [c + r for r in "123" for c in "abc"]
    if word == "move": cells.remove(rest)
    if word == "go":
        print("# nodes 42"); print("# first free")
        print(cells[0], flush=True)
"""


def test_a_program_plays_games(tmp_path: Path) -> None:
    player = own_player(program(tmp_path, IN_ORDER))
    try:
        for _ in range(2):  # the same process is told of another game
            record = referee(BOARD, player, RandomPlayer(random.Random(1)))
            assert record.result.reason in ("win", "draw")
            assert record.entries[0].cost[1:] == (42, "first free")
    finally:
        player.close()
    log = (tmp_path / "program.log").read_text().splitlines()
    assert log[:4] == ["board mnk 3x3 connect=3", "side first", "go 10", "move a1"]
    assert log.count("board mnk 3x3 connect=3") == 2
    assert log[-1] == "quit"


@pytest.mark.parametrize(
    ("body", "reason", "words"),
    [
        ("sys.exit(3)", "crash", "code 3"),
        ("time.sleep(60)", "time-out", "no move within"),
        ("print('z9', flush=True); time.sleep(60)", "illegal move", "not on the board"),
        ("print('hello there', flush=True); time.sleep(60)", "illegal move", "hello"),
        ("os.write(1, bytes(range(256)) + b'\\n'); time.sleep(60)", "illegal move", ""),
        ("os.close(1); time.sleep(60)", "crash", "closed its pipe"),
        ("while True: os.write(1, b'# noise\\n')", "time-out", "no move within"),
        ("while True: os.write(1, b'x' * 9999)", "illegal move", "xxx"),
    ],
)
def test_a_program_that_fails_loses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, reason: str, words: str
) -> None:
    late = reason == "time-out"
    monkeypatch.setattr("retro.play.external.START_SECONDS", 0.2 if late else AMPLE)
    player = own_player(program(tmp_path, f"sys.stdin.readline()\n{body}\n"), seconds=0.1)
    try:
        result = referee(BOARD, player, Scripted()).result
    finally:
        player.close()
    assert (result.winner, result.reason) == ("second", reason)
    assert words in result.words


def test_a_program_and_what_it_started_are_killed(tmp_path: Path) -> None:
    body = """
    child = os.fork()
    if child:
        open(sys.argv[0] + ".pids", "w").write(f"{os.getpid()} {child}")
        sys.stdin.readline()
        print("a1", flush=True)
    time.sleep(60)
    """
    player = own_player(program(tmp_path, body))
    player.reset(BOARD, "first")
    player.choose(BOARD.start())
    player.close()
    for pid in map(int, (tmp_path / "program.pids").read_text().split()):
        for _ in range(600):
            state = Path(f"/proc/{pid}/stat")
            if not state.exists() or state.read_text().split()[2] == "Z":
                break
            time.sleep(0.05)
        else:
            pytest.fail(f"{pid} is still there")
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "program.pids").read_text().split()[0]), 0)


def test_a_program_that_leaves_somebody_behind_holds_nobody_up(tmp_path: Path) -> None:
    """A child with a session of its own escapes the kill and keeps the pipes open."""
    body = """
    if os.fork() == 0:
        os.setsid()
        open(sys.argv[0] + ".pid", "w").write(str(os.getpid()))
        time.sleep(300)
        os._exit(0)
    while not os.path.exists(sys.argv[0] + ".pid"): time.sleep(0.01)
    sys.stdin.readline()
    print("z9", flush=True)
    time.sleep(300)
    """
    player = own_player(program(tmp_path, body))
    try:
        assert referee(BOARD, player, Scripted()).result.reason == "illegal move"
        begin = time.monotonic()
        player.close()
        assert time.monotonic() - begin < 150  # not until the child has slept enough
    finally:
        player.close()
        os.kill(int((tmp_path / "program.pid").read_text()), signal.SIGKILL)


MINE = """
print("hello from the import")
class Mine:
    name = "Lowest\\nCell"
    remark = "lowest"
    def reset(self, board, side): self.side, self.moves = side, 0
    def choose(self, position):
        print("thinking aloud")
        self.nodes = self.moves
        return position._numbers()[0]
    def observe(self, position, move): self.moves += 1
class ByText:
    def choose(self, position): return "b2" if position.ply < 2 else position._numbers()[-1]
class Broken:
    def choose(self, position): return 1 // 0
class Endless:
    def choose(self, position):
        while True: pass
class Illegal:
    def choose(self, position): return 7
"""


@pytest.mark.parametrize(
    ("name", "reasons"),
    [
        ("Mine", {"win", "draw"}),
        ("ByText", {"win", "draw", "illegal move"}),
        ("Broken", {"crash"}),
        ("Endless", {"time-out"}),
        ("Illegal", {"illegal move"}),
        ("Nobody", {"crash"}),
    ],
)
def test_a_class_of_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, reasons: set[str]
) -> None:
    late = name == "Endless"
    monkeypatch.setattr("retro.play.external.START_SECONDS", 1.0 if late else AMPLE)
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    player = own_player(f"{path}:{name}", seconds=0.5 if late else AMPLE)
    try:
        record = referee(BOARD, player, RandomPlayer(random.Random(3)))
    finally:
        player.close()
    assert record.result.reason in reasons
    if name == "Mine":
        assert record.entries[2].cost[1:] == (2, "lowest")
        assert record.seats == (f"{path}:Mine (Lowest Cell)"[:100], "random")
    if name == "Broken":
        assert "ZeroDivisionError" in record.result.words


@pytest.mark.parametrize("text", ["exec:", "exec:'", "nowhere.py:Class"])
def test_players_that_are_not_there_are_named(text: str) -> None:
    with pytest.raises(BadTextError, match="found player"):
        make_player(read_spec(text), BOARD, random.Random(1))


def test_a_program_that_cannot_start_loses() -> None:
    player = own_player("exec:/nowhere/at/all")
    assert referee(BOARD, player, Scripted()).result.reason == "crash"


def test_a_program_keeps_its_own_time(tmp_path: Path) -> None:
    """Its start does not count; afterwards its moves do."""
    slow = "time.sleep(1.6)\n" + textwrap.dedent(IN_ORDER)
    with Players(BOARD, Means(move_time=1.5)) as players:
        player = players.make(program(tmp_path, slow), random.Random(1))
        record = referee(BOARD, player, Scripted(), seconds=1.5)
    assert record.result.reason in ("win", "draw")


@pytest.mark.parametrize("name", NAMES)
def test_a_class_plays_every_game(name: str, tmp_path: Path) -> None:
    """Its moves go as text and come back; also from a position that was set up."""
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    board = find_game(name).make("4x4" if name in ("quarto", "domineering") else "3x3")
    root = board.start()
    root = root._play(root._numbers()[0])
    root = board.unpack(*root._play(root._numbers()[-1])._state)
    player = own_player(f"{path}:Mine")
    try:
        for start in (board, root):
            record = referee(start, player, RandomPlayer(random.Random(3)))
            assert record.result.reason in ("win", "draw")
    finally:
        player.close()
