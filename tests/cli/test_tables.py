"""Commands on tables as a user runs them: what they print, and what they find wrong."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli_cases import Ask, board_words, small_board

import tablebase as tb
from retro import errors
from retro.games.catalogue import NAMES
from tablebase.files.places import SHIPPED
from tablebase.tables import open_tablebase

pytestmark = pytest.mark.usefixtures("shelf")


def test_stats_json_keeps_its_contract(ask: Ask) -> None:
    said = ask("stats 5x4 --json")
    stats = json.loads(said.out)
    assert said.status == 0
    assert (stats["board"], stats["connect"], stats["value"]) == ("5x4", 4, "DRAW")
    assert stats["positions"] == 3_945_711
    first = {"ply": 0, "positions": 1, "win": 0, "draw": 1, "loss": 0, "terminal": 0}
    assert first.items() <= stats["plies"][0].items()
    totals = [sum(ply[key] for ply in stats["plies"]) for key in ("win", "draw", "loss")]
    assert totals == [1_390_516, 1_303_636, 1_251_559]


def test_stats_of_sorted_keys_count_classes(ask: Ask) -> None:
    stats = json.loads(ask("stats mnk 3x3 --connect 3 --json").out)
    assert (stats["value"], stats["positions"], stats["classes"]) == ("DRAW", 5478, 765)
    text = ask("stats mnk 3x3").out
    assert "5,478" in text
    assert "classes" in text
    assert "value of the empty board for the first player: DRAW" in text


def test_probe_json_keeps_its_contract(ask: Ask) -> None:
    found = json.loads(ask("probe 5x4 443 --json").out)
    assert (found["position"], found["side_to_move"], found["value"]) == ("443", "second", "WIN")
    order = [move["value"] for move in found["moves"]]
    assert order == sorted(order, key=("WIN", "DRAW", "LOSS").index)
    assert found["best"] == [m["move"] for m in found["moves"] if m["value"] == "WIN"]


def test_probe_draws_the_board_and_says_whose_value_it_is(ask: Ask) -> None:
    out = ask("probe 5x4 443").out
    assert "O, the second player, is to move: WIN for the second player, by table\n" in out
    lines = out.splitlines()
    at = lines.index("  1 2 3 4 5")
    assert lines[at - 4 : at] == ["  . . . . .", "  . . . . .", "  . . . O .", "  . . X X ."]
    assert lines[at + 1].split()[:5] == ["D", "W", "L", "L", "D"]
    assert lines[-1] == "best: 2"


def test_stones_keep_their_colour_from_ply_to_ply(ask: Ask) -> None:
    """X is the first player, whoever is to move."""
    pictures = [ask(f"probe 5x4 {moves}").out for moves in ("4", "44", "443")]
    assert [(p.count(" X"), p.count(" O")) for p in pictures] == [(1, 0), (1, 1), (2, 1)]


def test_probe_of_other_games_lists_moves_by_value(ask: Ask) -> None:
    out = ask("probe mnk 3x3 'b2 b1'").out
    assert "X, the first player, is to move: WIN for the first player" in out
    assert "  2  . X .\n  1  . O .\n     a b c" in out
    assert "\n  DRAW  b3\n" in out


def test_domineering_says_that_rows_come_first(ask: Ask) -> None:
    assert ask("probe domineering 3x4").out.startswith("domineering-3x4 (ROWSxCOLS), ply 0\n")
    assert ask("stats domineering 3x4").out.startswith("domineering-3x4 (ROWSxCOLS): ")
    assert json.loads(ask("probe domineering 3x4 --json").out)["size_order"] == "ROWSxCOLS"


def test_a_line_is_as_long_as_the_analysis_says(ask: Ask) -> None:
    analysis = json.loads(ask("analyse 5x4 443 --json --memory 16M").out)
    line = json.loads(ask("line 5x4 443 --json --memory 16M").out)
    assert (analysis["plies"], len(line["line"]), line["plies"]) == (17, 17, 17)
    said = ask("line 5x4 443 --memory 16M")
    assert "WIN for the second player in 17 plies, by table and search" in said.out
    assert said.out.endswith("after 17 plies the game is over: the second player has 4 in a line\n")
    assert "the table knows values, not distances" in said.err
    assert "after 1 ply the game is over" in ask("line 5x4 121212 --memory 16M").out


def test_list_shows_every_table(ask: Ask, shelf: Path) -> None:
    listed = json.loads(ask("list --json").out)
    assert listed["errors"] == []
    files = [*sorted(shelf.glob("*.h5")), *sorted(SHIPPED.glob("*.h5"))]
    assert [Path(table["file"]) for table in listed["tables"]] == files
    lines = ask("list").out.splitlines()
    assert [" (shipped) " in line for line in lines] == [path.parent == SHIPPED for path in files]
    for line, path in zip(lines, files, strict=True):
        with open_tablebase(path) as table:  # what the header says, not what the file is called
            assert line.startswith((f"{table.title} ", f"{table.title}, plies "))
    assert sum(" from b2 a1 " in line for line in lines) == 1


def test_what_is_shipped_is_listed_where_there_is_nothing_else(ask: Ask, tmp_path: Path) -> None:
    said = ask("list", "--dir", str(tmp_path))
    assert said.out.startswith("connect4-7x6, plies 0..12 (shipped) ")
    assert f"no tables in {tmp_path}; build one with" in said.err
    assert ask("list", "5x4", "--dir", str(tmp_path)).out == ""


def test_a_file_in_the_place_of_a_folder_is_named(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "tables"
    file.write_text("")
    for words in ("list", "probe 5x4", "stats 5x4", "bt 4x3"):
        said = ask(*words.split(), "--dir", str(file))
        assert (said.status, said.out) == (2, "")
        assert f"{file} is a file, not a folder of tables" in said.err
    monkeypatch.setenv("TABLEBASE_DIR", str(file))
    assert ask("probe 5x4").status == errors.BadTextError.exit_code


def test_tables_from_a_root(ask: Ask, shelf: Path) -> None:
    stats = json.loads(ask("stats mnk 3x3 --from 'b2 a1' --json").out)
    assert (stats["root"], stats["first_ply"]) == ("b2 a1", 2)
    assert "value of the position after b2 a1" in ask("stats mnk 3x3 --from 'b2 a1'").out
    assert json.loads(ask("probe mnk 3x3 --from 'b2 a1' --json").out)["position"] == "b2 a1"
    path = stats["file"]
    assert json.loads(ask("probe", path, "--json").out)["position"] == "b2 a1"
    said = ask("probe", path, "a2", "--memory", "1M")
    assert "by search" in said.out
    assert said.err.startswith("searching: no table covers all that is asked")


def test_a_file_must_hold_what_is_said_of_it(ask: Ask, shelf: Path) -> None:
    path = str(shelf / "connect3-4x3.h5")
    assert ask("stats", path, "--connect", "3").status == 0
    said = ask("stats", path, "--connect", "4")
    assert said.status == errors.WrongBoardError.exit_code
    assert said.err == f"error: {path} holds 4x3 connect=3, wanted 4x3\n"


@pytest.mark.parametrize("level", ["quick", "sample", "full"])
def test_verify_says_what_it_checked(level: str, ask: Ask) -> None:
    for board in ("4x3 --connect 3", "mnk 3x3"):
        said = ask(f"verify {board} --level {level} --json")
        found = json.loads(said.out)
        assert said.status == 0
        assert (found["sound"], found["level"]) == (True, level)
        assert (found["positions"] > 0) == (level != "quick")


def test_the_solver_confirms_every_position(ask: Ask) -> None:
    for board, live in (("4x3 --connect 3", None), ("mnk 3x3", 627)):
        said = ask(f"verify {board} --solver --json")
        assert said.status == 0
        confirmed = json.loads(said.out)["solver"]
        plies = json.loads(ask(f"stats {board} --json").out)["plies"][:-1]  # no full boards
        assert confirmed == (live or sum(p["positions"] - p["terminal"] for p in plies))
    assert "positions that the solver confirmed: 627" in ask("verify mnk 3x3 --solver").out


def test_a_truncated_table_is_damaged(ask: Ask, shelf: Path, tmp_path: Path) -> None:
    whole = (shelf / "connect4-5x4.h5").read_bytes()
    broken = tmp_path / "broken.h5"
    broken.write_bytes(whole[: len(whole) // 2])
    said = ask("verify", str(broken))
    assert said.status == errors.DamagedFileError.exit_code
    assert "broken.h5" in said.err
    said = ask("bt", "5x4", "--out", str(broken))
    assert said.status == errors.DamagedFileError.exit_code
    assert "--force" in said.err
    said = ask("list", "--dir", str(tmp_path), "--json")
    assert said.status == errors.DamagedFileError.exit_code
    (wrong,) = json.loads(said.out)["errors"]
    assert (wrong["file"], wrong["exit_code"]) == (str(broken), said.status)


def test_strategy_says_beforehand_shows_progress_and_is_bounded(ask: Ask, tmp_path: Path) -> None:
    alone = f"--dir {tmp_path} --memory 1M"
    said = ask(f"strategy 4x3 --connect 3 {alone}")
    assert said.status == 0
    assert said.err.startswith("without a table every position is searched, which takes long; ")
    assert "--most N" in said.err
    assert "total      35      12        23\n" in said.out
    said = ask(f"strategy 4x3 --connect 3 {alone} --most 2")
    assert said.status == errors.DoesNotFitError.exit_code
    assert "wanted at most 2" in said.err
    said = ask(f"strategy 4x3 --connect 3 {alone} --time-limit 0")
    assert said.status == errors.TimeLimitError.exit_code
    assert "within 0 s" in said.err


def test_strategy_of_a_rooted_table_starts_from_its_root(ask: Ask, shelf: Path) -> None:
    path = str(shelf / "mnk-3x3-connect3-from-b2-a1.h5")
    found = json.loads(ask("strategy", path, "--json").out)
    assert found["root"] == "b2 a1"
    assert found["strategies"][0]["plies"][0]["ply"] == 2
    assert found == json.loads(ask("strategy mnk 3x3 --from 'b2 a1' --json").out)


def test_importing_the_package_is_quick() -> None:
    code = (
        "import sys, tablebase, retro\n"
        "print(*(m for m in ('numba', 'h5py', 'numpy', 'rich') if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


@pytest.mark.parametrize(
    "words",
    [["probe", "5x4", "443"], ["probe", "mnk", "3x3", "b2"], ["stats", "mnk", "3x3"], ["--help"]],
)
def test_what_a_table_knows_is_answered_without_numba(words: list[str], shelf: Path) -> None:
    code = (
        "import sys\nfrom tablebase.cli.main import main\n"
        f"try:\n    status = main({words!r})\nexcept SystemExit as end:\n    status = end.code\n"
        "sys.exit(status or any(m in sys.modules for m in ('numba', 'rich')))"
    )
    environment = {**os.environ, "TABLEBASE_DIR": str(shelf)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True)


def test_a_command_imports_the_game_that_is_asked_for() -> None:
    code = (
        "import sys\nfrom tablebase.cli.main import main\n"
        "assert main(['probe', '5x4', '!']) == 3\n"
        "sys.exit(any(f'retro.games.{game}' in sys.modules for game in ('quarto', 'mnk')))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_python_m_tablebase_is_the_command(shelf: Path) -> None:
    command = [sys.executable, "-m", "tablebase", "stats", "mnk", "3x3", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["positions"] == 5478


def test_tables_are_exported_for_other_programs(ask: Ask, shelf: Path, tmp_path: Path) -> None:
    for name in NAMES:
        path = tmp_path / f"{name}.csv"
        said = ask("export", *board_words(name), "--out", str(path), "--moves")
        assert (said.status, said.out) == (0, f"{path}\n"), said.err
        with tb.open_tablebase(small_board(name), folder=shelf) as table:
            assert len(path.read_text().splitlines()) == 1 + len(table)
    words = ["export", "5x4", "--out", str(tmp_path / "s.csv"), "--sample", "9", "--seed"]
    first = ask(*words, "1"), (tmp_path / "s.csv").read_text()
    assert ask(*words, "1").status == 0
    assert (tmp_path / "s.csv").read_text() == first[1]
    assert len(first[1].splitlines()) == 10
    for wrong, message in (
        (["export", "5x4"], "--out FILE"),
        (["export", "5x4", "--out", "x.doc"], "names no format"),
        (["export", "5x4", "--out", "x.csv", "--plies", "99"], "plies"),
    ):
        said = ask(*wrong)
        assert said.status != 0
        assert message in said.err
    rows = ask("stats", "5x4", "--format", "csv").out.splitlines()
    assert rows[0].startswith("ply,positions,win,draw,loss,terminal")
    assert len(rows) == 22
