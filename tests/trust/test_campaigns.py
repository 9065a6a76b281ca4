"""A few tries of every campaign, with fixed seeds; `docs/trust.md` has the figures of long runs."""

import sys
from pathlib import Path

import pytest
from guinea_deeds import die_with, go_round

import tablebase as tb

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))

import campaign
from campaigns import common, hostile, power

FEW = {"hostile": 8, "flip": 32, "fuzz": 40, "parsers": 3, "power": 3}


@pytest.mark.parametrize("kind", ["hostile", "flip", "fuzz", "parsers", "power"])
def test_a_few_tries(kind, tmp_path, capsys, monkeypatch):
    small = (("4x3 connect=3", {"threads": 1}), ("mnk 2x2 connect=2", {}))  # folders of fewer files
    monkeypatch.setattr(power, "BUILDS", small)
    tries = str(FEW[kind])
    status = campaign.main([kind, "--seed", "7", "--tries", tries, "--out", str(tmp_path)])
    said = capsys.readouterr().out
    assert (status, f"{kind}: {tries} tries, 0 failures" in said) == (0, True), said


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "tries"), [("kill", "2"), ("load", "2"), ("threads", "21")])
def test_a_long_try(kind, tries, tmp_path, capsys):
    status = campaign.main([kind, "--seed", "7", "--tries", tries, "--out", str(tmp_path)])
    assert status == 0, capsys.readouterr().out


def test_a_failure_is_told_and_kept(tmp_path):
    """One that is planted: every third case fails."""
    cases = (
        common.Case(f"case {n}", common.told("it broke" if n % 3 == 2 else None)) for n in range(9)
    )
    found = common.Campaign("planted", 5).run(cases, 60, None, tmp_path)
    assert (found.tries, len(found.failures)) == (9, 3)
    assert (tmp_path / "planted-001" / "what.txt").read_text() == "seed 5\ncase 2: it broke\n"
    assert "planted: 9 tries, 3 failures" in found.report()


def test_the_fewest_items_with_which_it_fails():
    assert common.smallest(list(range(100)), lambda some: {17, 60} <= set(some)) == [17, 60]


def test_a_guinea_that_dies_or_goes_round_in_circles_is_replaced():
    guinea = common.Guinea()
    try:
        assert guinea.ask(len, [1, 2]) == 2
        assert guinea.ask(die_with, 7) == ("died", 7)
        assert guinea.ask(go_round, within=0.1) == ("hung", 0.1)
        assert guinea.ask(len, [1]) == 1
    finally:
        guinea.close()


def test_the_same_seed_makes_the_same_hostile_tables(tmp_path):
    source = tb.build("mnk 2x2 connect=2", tmp_path / "source.h5").path
    for name in ("one.h5", "two.h5"):
        hostile.make_hostile(source, tmp_path / name, [1, 2, 3])
    assert hostile.ask_all(str(tmp_path / "one.h5")) == hostile.ask_all(str(tmp_path / "one.h5"))
    assert (tmp_path / "one.h5").stat().st_size == (tmp_path / "two.h5").stat().st_size


def test_what_a_power_cut_leaves_is_what_was_synced(tmp_path):
    """Otherwise the campaign would find nothing: of an unfinished table nothing may be whole."""
    _, operations = power.watch("mnk 2x2 connect=2", {}, tmp_path)
    assert operations > 10
    kept = [tmp_path / f"{at}-synced" / "table.h5" for at in range(operations)]
    whole = [path for path in kept if path.exists()]
    assert whole  # the last moments have the table, synced
    for path in whole:
        with tb.open_tablebase(path) as table:
            assert tb.verify(table).plies == len(table.plies)
    asides = [path for path in tmp_path.glob("*-synced/*/*.tmp") if not path.stat().st_size]
    assert len(asides) > 5  # written, not yet synced: their content is lost
