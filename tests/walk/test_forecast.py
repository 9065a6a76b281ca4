"""Forecasts of builds against real tables; what does not fit is refused before it begins."""

import json
import re
from math import inf
from pathlib import Path
from typing import Any

import pytest

from retro import errors
from retro.games.catalogue import find_game
from retro.games.game import Game
from retro.index.keys.groups import make_grouping
from retro.walk.keys import forecast as forecasts
from retro.walk.keys import layers as walks
from retro.walk.keys.forecast import forecast
from tablebase.building import plan as plans
from tablebase.building.keys import plan as keys_plan
from tablebase.building.keys.plan import BASE_MEMORY, make_plan
from tablebase.cli import build

# Few moves from a layer, so that small tables are sampled like large ones.
FEW, SOME = 3_000, 10_000
GAMES: list[tuple[str, str, dict[str, str], str, int]] = [
    ("mnk", "4x3", {"connect": "3"}, "", FEW),
    ("mnk", "4x3", {"connect": "4"}, "", FEW),
    ("mnk", "4x4", {"connect": "4"}, "b2 c3 c2 b3", FEW),
    ("puissance-plus", "4x3", {"target": "5"}, "", FEW),
    ("notakto", "4x4", {"connect": "3"}, "", FEW),
    ("quarto", "3x3", {"attributes": "3"}, "", SOME),
    ("domineering", "5x5", {}, "", SOME),
]


@pytest.fixture(autouse=True)
def any_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sampling begins by the number of moves alone, on a busy machine as on a quiet one."""
    monkeypatch.setattr(forecasts, "MOST_SECONDS", inf)
    monkeypatch.setattr(forecasts, "LONGEST_SECONDS", inf)


def game_and_root(name: str, size: str, options: dict[str, str], moves: str) -> Any:
    game = find_game(name)
    board = game.parse(size, options)
    return game, game.read_position(board, moves) if moves else game.start(board)


def ready(game: Game, root: Any) -> tuple[walks.Walk, tuple[int, int]]:
    return walks.prepare(root.board.rules), root._state


def real_layers(walk: walks.Walk, state: tuple[int, int]) -> list[tuple[int, int]]:
    """(keys, finished classes) of every ply."""
    layers = walks.forward(walk, walks.first_layer(walk, state))
    return [(keys.size, int(ended[0].sum())) for keys, ended in layers]


@pytest.mark.parametrize("table", GAMES, ids=str)
def test_sampled_sizes_against_real_layers(
    table: tuple[str, str, dict[str, str], str, int],
) -> None:
    *names, most_edges = table
    game, root = game_and_root(*names)
    walk, state = ready(game, root)
    real = real_layers(walk, state)
    total = sum(keys for keys, _ in real)
    straight = game.name != "domineering" and not root.ply
    error = 0.05 if straight else 0.25
    for seed in range(3):
        found = forecast(walk, state, root.ply, most_edges=most_edges, seed=seed)
        assert not found.is_exact
        assert found.is_straight == straight
        assert [layer.ply for layer in found.layers[:2]] == [root.ply, root.ply + 1]
        assert sum(layer.keys for layer in found.layers) == pytest.approx(total, rel=error)
        for layer, (keys, ended) in zip(found.layers, real, strict=False):
            if layer.is_exact:
                assert (layer.keys, layer.ended) == (keys, ended)
            elif keys > total / 20:
                assert layer.keys == pytest.approx(keys, rel=2 * error)
                assert layer.ended < 2 * ended + keys
                assert keys + ended < 1.5 * (layer.keys + layer.ended)


@pytest.mark.parametrize("table", GAMES, ids=str)
def test_no_family_is_much_larger_than_foretold(
    table: tuple[str, str, dict[str, str], str, int],
) -> None:
    """A task must have room for a share of the largest; one that it did not expect ends a build."""
    *names, most_edges = table
    game, root = game_and_root(*names)
    walk, state = ready(game, root)
    grouping = make_grouping(walk.rules)
    real = [keys for keys, _ in walks.forward(walk, walks.first_layer(walk, state))]
    found = forecast(walk, state, root.ply, most_edges=most_edges)
    for layer, keys in zip(found.layers, real, strict=False):
        if keys.size:
            share = forecasts.largest_share(grouping, keys)
            if layer.is_exact:
                assert layer.crowd == share
            elif keys.size > 1000:
                assert share / 1.2 < layer.crowd < 3 * share


def test_small_tables_are_exact() -> None:
    game, root = game_and_root("mnk", "4x3", {"connect": "3"}, "")
    walk, state = ready(game, root)
    found = forecast(walk, state)
    assert found.is_exact
    assert [(layer.keys, layer.ended) for layer in found.layers] == real_layers(walk, state)


def test_the_same_seed_the_same_forecast() -> None:
    walk, state = ready(*game_and_root("notakto", "4x4", {}, ""))
    one, two, other = (
        forecast(walk, state, most_edges=FEW, seed=seed).layers for seed in (1, 1, 2)
    )
    assert one == two
    assert one != other


def test_giants_are_foretold_quickly() -> None:
    """Keys of two words, more of them than any integer type counts."""
    _game, root = game_and_root("mnk", "7x7", {"connect": "6"}, "")
    estimate = make_plan(root)
    assert estimate.plies[1].positions == 10
    assert 1e18 < estimate.positions < 3**49
    # Not a layer has to fit, but a group of the largest for each worker does.
    assert estimate.memory == estimate.least_memory > 1e17


def test_memory_is_that_of_the_largest_layer() -> None:
    game, root = game_and_root("domineering", "5x5", {}, "")
    walk, state = ready(game, root)
    largest = max(keys for keys, _ in real_layers(walk, state))
    estimate = make_plan(root)
    budget = keys_plan.Budget(1, estimate.memory - BASE_MEMORY, 0)
    assert budget.keeps("walk", 1, largest)
    assert not budget.keeps("walk", 1, 3 * largest)


@pytest.fixture
def sampled(monkeypatch: pytest.MonkeyPatch) -> plans.Plan:
    _game, root = game_and_root("domineering", "5x5", {}, "")
    monkeypatch.setattr(
        keys_plan, "forecast", lambda *given, **how: forecast(*given, most_edges=SOME, **how)
    )
    return make_plan(root)


def test_refused_only_beyond_the_error(
    sampled: plans.Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sampled.error == keys_plan.BENT_ERROR
    most, least = sampled.memory, sampled.least_memory
    assert BASE_MEMORY <= least < most

    def with_free(memory: int) -> str | None:
        monkeypatch.setattr(plans, "available_memory", lambda: memory)
        refused = sampled.obstacle(tmp_path / "not" / "there")
        assert refused is None or "of free memory" in refused
        return refused or sampled.warning(tmp_path / "not" / "there")

    assert with_free(most) is None
    assert "it may not fit" in str(with_free(most - 1))
    assert "it may not fit" in str(with_free(least))
    assert sampled.obstacle(tmp_path) is None
    with_free(least - 1)
    assert "of free memory" in str(sampled.obstacle(tmp_path))
    monkeypatch.setattr(plans, "available_memory", lambda: None)
    assert sampled.warning(tmp_path) is None
    full = type("Usage", (), {"free": 1000})
    monkeypatch.setattr(plans.shutil, "disk_usage", lambda _: full)
    assert "1 kB free in" in str(sampled.obstacle(tmp_path))
    assert sampled.warning(tmp_path, already_written=sampled.disk_while_building) is None


def test_a_build_says_what_it_takes_and_is_refused_before_it_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_plan(game_and_root("mnk", "3x3", {}, "")[1])  # so that no kernel has to be compiled
    arguments = ["mnk", "3x3", "--dir", str(tmp_path)]
    with monkeypatch.context() as short:
        short.setattr(plans, "available_memory", lambda: BASE_MEMORY + 5000)
        assert build.main(arguments) == errors.DoesNotFitError.exit_code
        err = capsys.readouterr().err
        assert err.startswith(
            "error: mnk-3x3-connect3 needs 627 positions to store, about 1 s, 550 MB of memory"
        )
        assert err.count("\n") == 1
        assert not list(tmp_path.glob("*"))
    assert build.main(arguments) == 0
    assert capsys.readouterr().err.startswith("mnk-3x3-connect3: 627 positions to store, about 1 s")


def test_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ["--dir", str(tmp_path)]
    assert build.main(["mnk", "3x3", "--plan", *place]) == 0
    out, err = capsys.readouterr()
    assert "positions         627\n" in out
    assert "fits here         yes" in out
    assert re.search(r"^  5 +153 ", out, re.MULTILINE)
    assert "sampling" not in out + err
    monkeypatch.setattr(plans, "available_memory", lambda: BASE_MEMORY)
    assert build.main(["mnk", "5x5", "--connect", "4", "--plan", *place]) == 0
    out, err = capsys.readouterr()
    assert "positions         about 13," in out
    assert "fits here         no" in out
    assert "by sampling; the number of positions is right within a factor of 1.2" in out
    assert err.startswith("would be refused: mnk-5x5-connect4 needs about 13,")
    assert build.main(["mnk", "3x3", "--from", "b2 a1", "--plan", "--json", *place]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert (plan["game"], plan["root"], plan["plies"][0]["ply"]) == ("mnk", "b2 a1", 2)
    assert (plan["error"], plan["fits"], plan["exact_plies"]) == (1.0, False, 8)
    assert sum(ply["positions"] for ply in plan["plies"]) == plan["positions"] > 100
    assert not list(tmp_path.iterdir())
