"""Forecasts of builds against real tables; what does not fit is refused before it begins."""

import json
from math import inf
from pathlib import Path
from typing import Any

import pytest

from retro import errors
from retro.games.catalogue import PlacementGame, find_game
from retro.walk import forecast as forecasts
from retro.walk import keyed as walks
from retro.walk.forecast import forecast
from tablebase import keyed_build, keyed_estimate
from tablebase.cli import build
from tablebase.keyed_build import build_keyed
from tablebase.keyed_estimate import BASE_MEMORY, estimate_keyed, require_fit

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


def ready(game: PlacementGame, root: Any) -> tuple[walks.Walk, tuple[int, int]]:
    return walks.prepare(game.rules(root.board)), game.state(root)


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
    game, root = game_and_root("mnk", "7x7", {"connect": "6"}, "")
    estimate = estimate_keyed(game, root)
    assert estimate.plies[1].positions == 10
    assert 1e18 < estimate.keys < 3**49
    assert estimate.memory > 16 * max(plan.positions for plan in estimate.plies.values())


def test_memory_against_what_the_walk_asks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(walks, "_require", lambda _, needed: asked.append(needed))
    monkeypatch.setattr(walks, "LEAST_ROOM", 1 << 12)  # runs to merge, as in large layers
    game, root = game_and_root("domineering", "5x5", {}, "")
    walk, state = ready(game, root)
    real_layers(walk, state)
    estimate = estimate_keyed(game, root)
    assert max(asked) / 1.5 < estimate.memory - BASE_MEMORY < 1.5 * max(asked)


@pytest.fixture
def sampled(monkeypatch: pytest.MonkeyPatch) -> keyed_estimate.KeyedEstimate:
    game, root = game_and_root("domineering", "5x5", {}, "")
    monkeypatch.setattr(
        keyed_estimate, "forecast", lambda *given, **how: forecast(*given, most_edges=SOME, **how)
    )
    return estimate_keyed(game, root)


def test_refused_only_beyond_the_error(
    sampled: keyed_estimate.KeyedEstimate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sampled.error == keyed_estimate.BENT_ERROR
    needed = sampled.memory - BASE_MEMORY

    def with_free(memory: int) -> str | None:
        monkeypatch.setattr(keyed_estimate, "available_memory", lambda: BASE_MEMORY + memory)
        return require_fit(sampled, tmp_path / "not" / "there")

    assert with_free(needed) is None
    assert "it may not fit" in str(with_free(needed - 1))
    assert "it may not fit" in str(with_free(int(needed / sampled.error) + 1))
    with pytest.raises(errors.DoesNotFitError, match="of free memory"):
        with_free(int(needed / sampled.error) - 1)
    monkeypatch.setattr(keyed_estimate, "available_memory", lambda: None)
    assert require_fit(sampled, tmp_path) is None
    full = type("Usage", (), {"free": 1000})
    monkeypatch.setattr(keyed_estimate.shutil, "disk_usage", lambda _: full)
    with pytest.raises(errors.DoesNotFitError, match="1 kB free in"):
        require_fit(sampled, tmp_path)
    assert require_fit(sampled, tmp_path, already_written=sampled.disk_while_building) is None


def test_a_build_says_what_it_takes_and_is_refused_before_it_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["mnk", "3x3", "--dir", str(tmp_path)]
    with monkeypatch.context() as short:
        short.setattr(keyed_estimate, "available_memory", lambda: BASE_MEMORY + 5000)
        assert build.main(arguments) == errors.DoesNotFitError.exit_code
        err = capsys.readouterr().err
        assert err.startswith("error: mnk-3x3-connect3 needs 627 keys, about 1 s, 500 MB of memory")
        assert err.count("\n") == 1
        assert not list(tmp_path.glob("*"))
    assert build.main(arguments) == 0
    assert capsys.readouterr().err.startswith("mnk-3x3-connect3: 627 keys, about 1 s")


def test_a_refused_layer_leaves_what_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game, root = game_and_root("mnk", "3x3", {}, "")
    path = tmp_path / "x.h5"
    with monkeypatch.context() as short:
        short.setattr(keyed_build, "available_memory", lambda: BASE_MEMORY + 1000)
        with pytest.raises(errors.DoesNotFitError, match="what is finished is kept in"):
            build_keyed(game, root, path)
    assert list(tmp_path.glob("*.partial/keys-09.h5"))
    walked: list[int] = []
    build_keyed(game, root, path, report=lambda p: walked.append(p.ply))
    assert walked == [*range(9, -1, -1)]  # nothing forward, all back


def test_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ["--dir", str(tmp_path)]
    assert build.main(["mnk", "3x3", "--plan", *place]) == 0
    out, err = capsys.readouterr()
    assert "keys              627\n" in out
    assert "fits here         yes" in out
    assert "  5   153 " in out
    assert "sampling" not in out + err
    monkeypatch.setattr(keyed_estimate, "available_memory", lambda: BASE_MEMORY)
    assert build.main(["mnk", "5x5", "--connect", "4", "--plan", *place]) == 0
    out, err = capsys.readouterr()
    assert "keys              about 13," in out
    assert "fits here         no" in out
    assert "on by sampling; the number of keys is right within a factor of 1.2" in out
    assert err.startswith("would be refused: mnk-5x5-connect4 needs about 13,")
    assert build.main(["mnk", "3x3", "--from", "b2 a1", "--plan", "--json", *place]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert (plan["game"], plan["root"], plan["first_ply"]) == ("mnk", "b2 a1", 2)
    assert (plan["error"], plan["fits"], plan["exact_plies"]) == (1.0, False, 8)
    assert sum(ply["positions"] for ply in plan["plies"]) == plan["keys"] > 100
    assert not list(tmp_path.iterdir())
