"""`tablebase play` and `match` as people use them: everything goes through stdin and stdout."""

import io
import json
import random
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from retro.errors import BadTextError, DamagedFileError
from retro.games.connect import Board, Position
from retro.games.connect_text import column_text, read_moves
from retro.search import Solver
from tablebase.book import canonical, look_up, open_book
from tablebase.cli import build, main
from tablebase.perfect import PerfectPlayer, first_best
from tablebase.probe import open_tablebase

LIGHT = ["--memory", "64"]


class Terminal(io.TextIOBase):
    """A human at the terminal: reads what the command prints, types what `answer` says."""

    def __init__(self, board: Board, answer: Callable[[Position], str]) -> None:
        self.position, self._answer = Position(board), answer
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text
        played = re.search(r"\) plays (\w)", text)
        if played:
            self.position = self.position.play(int(played[1]) - 1)
        return len(text)

    def readline(self, *_: object) -> str:
        return self._answer(self.position) + "\n"


@pytest.fixture(autouse=True)
def no_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABLEBASE_DIR", str(tmp_path / "none"))


def sit_down(
    monkeypatch: pytest.MonkeyPatch,
    board: str,
    answer: Callable[[Position], str],
    *arguments: str,
) -> Position:
    """Play a whole game; returns its last position."""
    terminal = Terminal(Board.parse(board), answer)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdin", terminal)
        patch.setattr(sys, "stdout", terminal)
        assert main.main(["play", "--board", board, *LIGHT, *arguments]) == 0
    assert terminal.position.is_over()
    assert terminal.position.over_message() in terminal.text
    return terminal.position


def typed(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    lines: str,
    *arguments: str,
) -> tuple[int, str]:
    """Run `play` with these lines typed in."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
    capsys.readouterr()
    status = main.main(["play", "--board", "5x4", *LIGHT, *arguments])
    return status, capsys.readouterr().out


def at_random(seed: int) -> Callable[[Position], str]:
    rng = random.Random(seed)
    return lambda position: column_text(rng.choice(position.legal_columns()))


def stubborn(board: str, memory_mb: int = 256) -> Callable[[Position], str]:
    """Loses as slowly as can be, by a search of its own."""
    solver = Solver(board, memory_mb=memory_mb)

    def answer(position: Position) -> str:
        entry = look_up(open_book(solver.board), position) or first_best(solver, position)
        return column_text(entry.column)

    return answer


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("role", ["first", "second"])
def test_it_never_drops_a_draw(monkeypatch: pytest.MonkeyPatch, seed: int, role: str) -> None:
    other = "human" if role == "second" else "computer"
    final = sit_down(monkeypatch, "5x4", at_random(seed), "--first", other)
    assert final.winner() in (None, role)


def test_two_perfect_players_draw_on_5x4(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--first", "perfect", "--second", "perfect", "--games", "2", "--json", *LIGHT]
    assert main.main(["match", "--board", "5x4", *arguments]) == 0
    games = json.loads(capsys.readouterr().out)["games"]
    assert [(game["winner"], game["plies"]) for game in games] == [(None, 20)] * 2


@pytest.mark.parametrize("seed", range(2))
def test_it_beats_random_play_on_7x6(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    final = sit_down(monkeypatch, "7x6", at_random(seed), "--first", "computer")
    assert final.winner() == "first"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
def test_it_beats_more_random_play_on_7x6(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    final = sit_down(monkeypatch, "7x6", at_random(seed), "--first", "computer")
    assert final.winner() == "first"


@pytest.mark.slow
@pytest.mark.parametrize("opening", range(7))
def test_it_beats_the_most_stubborn_on_7x6(monkeypatch: pytest.MonkeyPatch, opening: int) -> None:
    """Whatever the first reply, against the longest resistance after it, and within 41 plies."""
    resist = stubborn("7x6")

    def answer(position: Position) -> str:
        return column_text(opening) if position.ply == 1 else resist(position)

    final = sit_down(monkeypatch, "7x6", answer, "--first", "computer")
    assert final.winner() == "first"
    assert final.ply <= 41


@pytest.mark.slow
@pytest.mark.parametrize("role", ["first", "second"])
def test_it_never_drops_a_draw_on_6x5(monkeypatch: pytest.MonkeyPatch, role: str) -> None:
    other = "human" if role == "second" else "computer"
    for answer in (at_random(1), at_random(2), stubborn("6x5")):
        final = sit_down(monkeypatch, "6x5", answer, "--first", other)
        assert final.winner() in (None, role)


def test_the_winner_hurries_and_the_loser_stalls() -> None:
    board = Board(5, 4)
    solver, player = Solver(board, memory_mb=16), PerfectPlayer(board, seconds=60, memory_mb=16)
    for moves in ("443", "1212", "33", "2", "3312"):
        whole = solver.solve(moves, strong=True)
        advice = player.advise(moves)
        assert (advice.value, advice.plies or whole.plies) == (whole.value, whole.plies)
        after = read_moves(board, moves).play(advice.move)
        if not after.is_over():
            assert 1 + solver.solve(after, strong=True).plies == whole.plies


def test_without_time_for_distances_the_value_is_kept(
    built_5x4: object, table_folder: Path
) -> None:
    board = Board(5, 4)
    hasty = PerfectPlayer(board, seconds=0, memory_mb=16)
    with open_tablebase(table_folder / "connect4-5x4.h5") as table:
        reader = PerfectPlayer(board, [table], seconds=0, memory_mb=16)
        rng = random.Random(4)
        for _ in range(60):
            position = Position(board)
            while not position.is_over():
                for player, source in ((hasty, "search"), (reader, "table")):
                    advice = player.advise(position)
                    assert (advice.value, advice.source) == (table.probe_wdl(position), source)
                    after = position.play(advice.move)
                    kept = after.outcome() if after.is_over() else table.probe_wdl(after)
                    assert -kept == advice.value
                position = position.play(rng.choice(position.legal_columns()))


def test_tables_of_what_follows_some_positions_answer_that(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert build.main(["5x4", "--from", "33", "--dir", str(tmp_path), "--quiet"]) == 0
    lines = "3\n3\nhint\nundo\nundo\n1\n2\nhint\nquit\n"
    _, out = typed(capsys, monkeypatch, lines, "--second", "human", "--dir", str(tmp_path))
    assert re.findall(r"hint: .*, by (\w+)\)", out) == ["table", "search"]


def test_the_book_is_consistent() -> None:
    """No answer to a book move is worth less to us; the best is worth exactly what it says."""
    book = open_book(Board(7, 6))
    complete = 0
    for position, entry in book.items():
        assert canonical(position) == position
        after = position.play(entry.column)
        replies = [p for p in (after.play(c) for c in after.legal_columns()) if not p.is_over()]
        found = [look_up(book, reply) for reply in replies]
        ranks = [(e.value, -e.value * (e.plies + 2)) for e in found if e is not None]
        expected = (entry.value, -entry.value * entry.plies)
        assert min(ranks, default=expected) >= expected
        if None not in found:
            assert min(ranks) == expected
            complete += 1
    assert complete >= 5
    assert look_up(book, Position(Board(7, 6))) == (3, 1, 41)  # Allis and Allen, 1988


@pytest.mark.slow
def test_lines_of_the_book_are_true() -> None:
    book = open_book(Board(7, 6))
    solver = Solver("7x6")
    hard = [position for position in book if position.ply >= 5]
    for position in random.Random(6).sample(hard, 20):
        assert first_best(solver, position) == book[position]


def test_commands_at_the_board(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kept = tmp_path / "kept.game"
    lines = f"3\nsave {kept}\nundo\n1\nload {kept}\nhint\nquit\n"
    status, out = typed(capsys, monkeypatch, lines)
    assert status == 0
    assert kept.read_text().splitlines()[0] == "connect4 5x4 connect=4"
    begun = kept.read_text().splitlines()[1]
    assert begun[0] == "3"
    assert len(begun) == 2
    assert f"saved in {kept}" in out
    boards = [b.strip() for b in re.findall(r"((?:  [.XO ]+\n){4})  1 2 3 4 5\n", out)]
    # The start, after 3, the start again (undo), after 1, and the kept game.
    assert [board.count("X") for board in boards] == [0, 1, 0, 1, 1]
    assert boards[4] == boards[1] != boards[3]
    assert re.search(r"hint: \d \(DRAW for you, by search\)", out)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("6", "column 6 is not on the board 5x4"),
        ("44", "found '44', wanted a move, or one of: undo"),
        ("what", "found 'what', wanted a move"),
        ("undo", "there is no move to take back"),
        ("save", "wanted the name of a file"),
        ("save /nowhere/at/all", "cannot write /nowhere/at/all"),
        ("load /nowhere/at/all", "cannot read /nowhere/at/all"),
        (f"load {__file__}", "wanted 'connect4 5x4 connect=4'"),
        (f"save {__file__}", "is no game of connect4"),
    ],
)
def test_what_is_no_move_gets_one_line_and_another_try(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, line: str, words: str
) -> None:
    status, out = typed(capsys, monkeypatch, f"{line}\n\n3\nquit\n")
    assert status == 0
    answer = out.split("X> ")[1]
    assert words in answer
    assert len(answer.splitlines()) == 1
    assert "X (human) plays 3" in out


def test_a_full_column_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, out = typed(capsys, monkeypatch, "1\n1\n1\n1\n1\n", "--second", "human")
    assert "column 1 is full (4 stones)" in out


def test_the_end_of_input_and_ctrl_c_end_cleanly(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert typed(capsys, monkeypatch, "")[0] == 0

    def interrupted(position: Position) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "stdin", Terminal(Board(5, 4), interrupted))
    assert main.main(["play", "--board", "5x4"]) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_a_damaged_table_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "connect4-5x4.h5").write_text("no table")
    status, _ = typed(capsys, monkeypatch, "3\n", "--dir", str(tmp_path))
    assert status == DamagedFileError.exit_code


def test_other_games_are_played(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("b2\nb2\na1\nquit\n"))
    assert main.main(["play", "--game", "mnk", "--second", "random", "--seed", "3"]) == 0
    out = capsys.readouterr().out
    assert "X (human) plays b2" in out
    assert "row 2, column 2 is taken" in out


def test_a_match_changes_sides_and_counts(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["match", "--board", "5x4", "--first", "alphabeta:3", "--second", "random"]
    assert main.main([*arguments, "--games", "7", "--seed", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    roles = [game["first"] for game in found["games"]]
    assert roles == ["alphabeta:3", "random"] * 3 + ["alphabeta:3"]
    wins = {"alphabeta:3": 0, "random": 0}
    for game in found["games"]:
        if game["winner"]:
            wins[game[game["winner"]]] += 1
    for row in found["players"]:
        assert row["first"]["won"] + row["second"]["won"] == wins[row["player"]]
        assert row["first"]["games"] + row["second"]["games"] == 7
    assert main.main([*arguments, "--games", "7", "--seed", "1"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert rows[1] == ["player", "role", "games", "won", "drawn", "lost", "points"]
    assert rows[4][:4] == ["alphabeta:3", "both", "7", str(wins["alphabeta:3"])]


def test_a_human_in_a_match_plays_until_her_input_ends(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody can win on two cells, so every finished game is a draw; then she leaves."""
    arguments = ["match", "--game", "mnk", "--board", "2x1", "--games", "5", *LIGHT]
    arguments += ["--first", "random", "--second", "human"]
    for typed_in in ("b1\na1\nundo\nz9\na1\nb1\n", "b1\na1\nb1\na1\nquit\n"):
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed_in))
        assert main.main(arguments) == 0
        out, err = capsys.readouterr()
        rows = [line.split() for line in out.splitlines()]
        played = int(rows[0][2])
        assert 1 <= played < 5
        assert rows[4] == ["random", "both", str(played), "0", str(played), "0", f"{played / 2}"]
        assert f"the match ends after {played} of 5 games" in err
        assert "X plays " in err
        assert "  1  . ." in err
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert main.main([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["games"] == []


def test_nothing_is_taken_back_in_a_match(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("b2\na1\nundo\nquit\n"))
    arguments = ["match", "--game", "mnk", "--first", "human", "--second", "human", *LIGHT]
    assert main.main(arguments) == 0
    err = capsys.readouterr().err
    assert "no move is taken back in a match" in err
    assert err.count(" plays ") == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["play", "--first", "wizard"], "found player 'wizard', wanted one of human"),
        (["play", "--game", "chess"], "found game 'chess', wanted one of connect4"),
        (["play", "--board", "5by4"], "wanted WIDTHxHEIGHT"),
        (["play", "--connect", "four"], "found 'four' stones"),
        (["match", "--first", "random", "--second", "random", "--games", "0"], "at least 1"),
    ],
)
def test_mistakes_get_one_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert main.main(arguments) == BadTextError.exit_code
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert words in err
