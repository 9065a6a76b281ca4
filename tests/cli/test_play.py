"""`tablebase play` and `match` as people use them: everything goes through stdin and stdout."""

import io
import json
import random
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_cases import Ask

from retro.errors import BadTextError, DamagedFileError, WrongBoardError
from retro.games.connect4.rules import Connect4Board, Connect4Position
from retro.games.connect4.text import column_text
from tablebase.cli import build, main
from tablebase.oracles import oracle

LIGHT = ["--memory", "64M"]


class Terminal(io.TextIOBase):
    """A human at the terminal: reads what the command prints, types what `answer` says."""

    def __init__(self, board: Connect4Board, answer: Callable[[Connect4Position], str]) -> None:
        self.position, self._answer = Connect4Position(board), answer
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text
        played = re.search(r"\) plays (\w)", text)
        if played:
            self.position = self.position._play(int(played[1]) - 1)
        return len(text)

    def readline(self, *_: object) -> str:
        return self._answer(self.position) + "\n"


@pytest.fixture(autouse=True)
def no_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABLEBASE_DIR", str(tmp_path / "none"))


def sit_down(
    monkeypatch: pytest.MonkeyPatch,
    board: str,
    answer: Callable[[Connect4Position], str],
    *arguments: str,
) -> Connect4Position:
    """Play a whole game; returns its last position."""
    terminal = Terminal(Connect4Board.parse(board), answer)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdin", terminal)
        patch.setattr(sys, "stdout", terminal)
        assert main.main(["play", board, *LIGHT, *arguments]) == 0
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
    status = main.main(["play", "5x4", *LIGHT, *arguments])
    return status, capsys.readouterr().out


def at_random(seed: int) -> Callable[[Connect4Position], str]:
    rng = random.Random(seed)
    return lambda position: column_text(rng.choice(position._numbers()))


def stubborn(board: str, memory_mb: int = 256) -> Callable[[Connect4Position], str]:
    """Loses as slowly as can be, by an oracle of its own."""
    asked = oracle(board, memory=f"{memory_mb}M")
    return lambda position: column_text(asked.best_move(position).number)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("role", ["first", "second"])
def test_it_never_drops_a_draw(monkeypatch: pytest.MonkeyPatch, seed: int, role: str) -> None:
    other = "human" if role == "second" else "computer"
    final = sit_down(monkeypatch, "5x4", at_random(seed), "--first", other)
    assert final.winner() in (None, role)


def test_two_perfect_players_draw_on_5x4(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--first", "perfect", "--second", "perfect", "--games", "2", "--json", *LIGHT]
    assert main.main(["match", "5x4", *arguments]) == 0
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

    def answer(position: Connect4Position) -> str:
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


def test_tables_of_what_follows_some_positions_answer_that(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert build.main(["5x4", "--from", "33", "--dir", str(tmp_path), "--quiet"]) == 0
    lines = "3\n3\nhint\nundo\nundo\n1\n2\nhint\nquit\n"
    _, out = typed(capsys, monkeypatch, lines, "--second", "human", "--dir", str(tmp_path))
    assert re.findall(r"hint: .*, by (\w+)\)", out) == ["table", "search"]


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
        ("44", "found '44', wanted a move, or one of: help"),
        ("what", "found 'what', wanted a move"),
        ("undo", "there is no move to take back"),
        ("save", "wanted the name of a file"),
        ("save /nowhere/at/all", "cannot write /nowhere/at/all"),
        ("load /nowhere/at/all", "cannot read /nowhere/at/all"),
        (f"load {__file__}", "move 1 of "),
        (f"save {__file__}", "exists and is no game"),
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


def test_a_game_of_another_board_says_which_both_are(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    kept.write_text("mnk 3x3 connect=3\nb2\n")
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert main.main(["play", "5x4", "--load", str(kept)]) == WrongBoardError.exit_code
    assert "is on mnk 3x3 connect=3, not on connect4 5x4 connect=4" in capsys.readouterr().err


def test_who_takes_a_game_up_again_finds_the_same_opponent(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kept, foreign = tmp_path / "kept", tmp_path / "foreign"
    kept.write_text("connect4 5x4 connect=4\n43\n# first: beginner\n# second: human\n")
    for lines in ("quit\n", f"load {kept}\nquit\n"):
        arguments = () if lines == "quit\n" else ("--second", "human")
        load = ["--load", str(kept)] if lines == "quit\n" else []
        _, out = typed(capsys, monkeypatch, lines, *load, *arguments)
        assert "X (beginner) plays" in out
        assert out.rstrip().endswith("O>")
    _, out = typed(capsys, monkeypatch, "1\nquit\n", "--load", str(kept), "--second", "human")
    assert "X (human) plays 1" in out
    # A file starts no program, whatever it says; nor do two computers take over.
    for seat in (f"exec:touch {tmp_path}/started", f"{tmp_path}/mine.py:Mine", "perfect"):
        other = "human" if seat != "perfect" else "easy"
        foreign.write_text(f"connect4 5x4 connect=4\n43\n# first: {seat}\n# second: {other}\n")
        _, out = typed(capsys, monkeypatch, "1\nquit\n", "--load", str(foreign))
        assert "X (human) plays 1" in out
        assert "O (easy) plays" in out
    assert not (tmp_path / "started").exists()


def test_another_game_with_other_players(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "3\nnew human\nnew human wizard\nnew 'x\nnew random human\nnew human human\n"
    _, out = typed(capsys, monkeypatch, lines + "1\n1\nlevel easy\nundo\n2\nquit\n")
    assert "found 'human', wanted two players" in out
    assert "found player 'wizard'" in out
    assert "No closing quotation" in out
    assert "X (random) plays" in out
    assert "O (human) plays 1" in out
    assert "two humans play; wanted new FIRST SECOND" in out
    assert "O (human) plays 2" in out  # undo between humans is one ply


def test_a_game_is_shown_to_a_pipe(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    kept.write_text("connect4 5x4 connect=4\n43\n")
    status, out = typed(capsys, monkeypatch, "", "--replay", str(kept))
    assert status == 0
    assert "1. X plays 4" in out
    assert "2. O plays 3" in out
    assert "Enter" not in out


@pytest.mark.parametrize("player", ["exec:/nowhere/at/all", "exec:false"])
def test_a_program_that_fails_loses_at_the_board(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, player: str
) -> None:
    status, out = typed(capsys, monkeypatch, "3\n", "--second", player)
    assert status == 0
    assert "X (human) wins by crash" in out


def test_values_are_told_as_far_as_they_are_known(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table of the first plies of 7x6 is shipped; of 8x7 nobody knows in so short a time."""

    def values(board: str) -> list[str]:
        monkeypatch.setattr(sys, "stdin", io.StringIO("values on\n1\n1\n1\nhint\nquit\n"))
        arguments = ["play", board, "--second", "human", "--time-limit", "0.01", *LIGHT]
        assert main.main(arguments) == 0
        return re.findall("values: (.*)", capsys.readouterr().out)

    found = values("7x6")
    assert found[0].startswith("4 WIN, over in 41 plies, 3 DRAW, over in 42 plies, 5 DRAW")
    assert not any("not known" in known for known in found)
    assert "not known in time: 4 5 3 6 2 7 1 8" in values("8x7")[0]


def test_a_full_column_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, out = typed(capsys, monkeypatch, "1\n1\n1\n1\n1\n", "--second", "human")
    assert "column 1 is full (4 stones)" in out


def test_the_end_of_input_and_ctrl_c_end_cleanly(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert typed(capsys, monkeypatch, "")[0] == 0

    def interrupted(position: Connect4Position) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "stdin", Terminal(Connect4Board(5, 4), interrupted))
    assert main.main(["play", "5x4"]) == 130
    assert capsys.readouterr().err.splitlines()[1:] == ["interrupted"]


def test_a_damaged_table_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "connect4-5x4.h5").write_text("no table")
    status, _ = typed(capsys, monkeypatch, "3\n", "--second", "perfect", "--dir", str(tmp_path))
    assert status == DamagedFileError.exit_code


def test_other_games_are_played(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("b2\nb2\na1\nquit\n"))
    assert main.main(["play", "mnk", "--second", "random", "--seed", "3"]) == 0
    out = capsys.readouterr().out
    assert "X (human) plays b2" in out
    assert "row 2, column 2 is taken" in out


def test_a_board_that_is_hardly_a_game_says_so_and_names_another(
    ask: Ask, no_tables: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("quit\n" * 9))
    players = ["--second", "random"]
    said = ask("play", "puissance-plus", *players).err
    command = re.search(r"X wins this board in three plies. For a longer game: (.*)", said)
    assert command is not None
    assert ask("solve puissance-plus --strong --memory 1M").out == "WIN 3\n"
    words = command[1].split()
    assert words[:2] == ["tablebase", "play"]
    said = ask(*words[1:], *players)
    assert (said.status, "longer game" in said.err) == (0, False)
    assert "a straight run of cells worth 12 wins" in said.out + said.err
    for other in (["puissance-plus", "8x8", "--target", "6"], ["puissance-plus", "3x3"], ["mnk"]):
        assert "longer game" not in ask("play", *other, *players).err


def test_a_match_changes_sides_and_counts(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["match", "5x4", "--first", "alphabeta:3", "--second", "random"]
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
    arguments = ["match", "mnk", "2x1", "--games", "5", *LIGHT]
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
    arguments = ["match", "mnk", "--first", "human", "--second", "human", *LIGHT]
    assert main.main(arguments) == 0
    err = capsys.readouterr().err
    assert "no move is taken back in a match" in err
    assert err.count(" plays ") == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["play", "--first", "wizard"], "found player 'wizard', wanted one of human"),
        (["play", "--game", "chess"], "no game is called 'chess'; games: connect4"),
        (["play", "--board", "5by4"], "wanted WIDTHxHEIGHT"),
        (["play", "domineering", "5by4"], "wanted ROWSxCOLS"),
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
