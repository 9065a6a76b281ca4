"""The script that plants faults: what it changes, which tests and kernels that touches."""

import ast
import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = '''\
"""Half a text of 12 words."""
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from a import b as c
def larger(a: "list[3]", b: int = 2, *, häufig: bool = True) -> int:
    assert a > 7
    if not häufig or (a < b and b):
        raise ValueError(f"found {a + 11}")
    self.total += max(a << 1, b, key=None)
    return a if a > b else b
'''


LESS = """\
def less(a, b):
    return a < b

def more(a, b):
    return a > b
"""
TEST_OF_LESS = """\
from retro.less import less

def test_less():
    assert not less(1, 1)

def test_broken():
    assert less(1, 1)
"""


@pytest.fixture(autouse=True)
def scripts(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "scripts")


def test_a_fault_changes_one_place_of_what_runs():
    from mutating.faults import KINDS, faults_of

    faults = faults_of(SOURCE, "larger.py")
    assert {fault.kind for fault in faults} == set(KINDS)
    whole, planted = ast.dump(ast.parse(SOURCE)), set()
    for fault in faults:
        source = fault.planted(SOURCE)
        assert ast.dump(ast.parse(source)) != whole
        assert source.splitlines()[:4] == SOURCE.splitlines()[:4]
        for kept in ('a: "list[3]"', "assert a > 7", "{a + 11}"):
            assert kept in source or fault.kind == "statement"
        planted.add(source)
    assert len(planted) == len(faults)
    texts = {text.partition("  ")[2] for text in map(str, faults)}
    assert "comparison  a > b  ->  (a >= b)" in texts
    assert "condition  not häufig or (a < b and b)  ->  (not häufig and (a < b and b))" in texts
    assert "argument  max(a << 1, b, key=None)  ->  max(a << 1, b)" in texts
    assert "argument  max(a << 1, b, key=None)  ->  max(b, a << 1, key=None)" in texts
    assert "constant  True  ->  False" in texts
    assert "statement  self.total += max(a << 1, b, key=None)  ->  pass" in texts


def test_faults_are_drawn_by_lot_of_each_kind_as_many():
    from mutating.faults import KINDS, drawn

    sources = {f"{number}.py": SOURCE for number in range(4)}
    found = drawn(sources, random.Random(5), 10)
    assert found == drawn(sources, random.Random(5), 10) != drawn(sources, random.Random(6), 10)
    assert sorted(fault.kind for fault in found) == sorted(2 * KINDS)
    assert len({fault[:2] for fault in found}) == 10


def test_the_nearest_tests_come_first():
    from mutating.nearest import imports_of, nearest_tests, read_sources

    graph = imports_of(read_sources(ROOT, "retro", "tablebase"))
    tests = read_sources(ROOT, "tests/play", "tests/web", "tests/games")
    for changed, nearest in (
        ("retro.play.uct", "tests/play/test_uct.py"),
        ("retro.play.uct_kernels", "tests/play/test_uct.py"),
        ("tablebase.web.seats", "tests/web/test_service.py"),
        ("retro.games.quarto.rules", "tests/games/quarto/test_rules.py"),
    ):
        found = nearest_tests(changed, tests, graph)
        assert sorted(found) == sorted(tests)
        assert nearest in found[:3], (changed, found[:3])


def path_of(module):
    """The file of a module, of this project or of one made up for a test."""
    return f"{module.replace('.', '/')}.py"


def test_kernels_are_kept_that_are_not_made_of_what_changes():
    """Those of any game are made of what every game registers, though they import none."""
    from mutating.nearest import kept_kernels

    sources = {
        path_of("retro.games.kernels"): "from retro import jit\n",
        path_of("retro.games.mnk.kernels"): (
            "from retro.games import kernels\nfrom retro import line\n"
        ),
        path_of("retro.line"): "",
        path_of("retro.jit"): "",
        path_of("retro.walk"): "from retro.games import kernels\n",
        path_of("retro.halves"): "from retro import jit\n\ndef f():\n    from retro import line\n",
    }
    modules = ("retro.walk", "retro.halves", "retro.games.mnk.kernels", "tests.strange")
    files = [f"{module}.f-1f.kernel" for module in modules]

    def kept(changed):
        return [modules[files.index(file)] for file in kept_kernels(files, changed, sources)]

    assert kept("retro.line") == ["retro.halves"]
    assert kept("retro.games.mnk.kernels") == ["retro.halves"]
    assert kept("retro.jit") == []
    assert kept("retro.halves") == ["retro.walk", "retro.games.mnk.kernels"]


def test_what_no_test_notices_lives_and_is_not_tried_again(tmp_path, monkeypatch, capsys):
    """A project of one function, a test of it, and a test that fails whatever it does."""
    import mutants

    files = {
        path_of("retro.less"): LESS,
        path_of("tests.test_less"): TEST_OF_LESS,
        "tablebase/__init__.py": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    for words in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    out = tmp_path / "out.jsonl"
    words = ["--seed", "3", "--count", "2", "--out", str(out)]
    assert mutants.main(words) == 1
    said = capsys.readouterr().out
    assert "2 faults, 1 noticed\n" in said
    assert said.endswith(f"lives: {path_of('retro.less')}:5  comparison  a > b  ->  (a >= b)\n")
    noticed = [json.loads(line) for line in out.read_text().splitlines()]
    assert {line["by"] for line in noticed} == {f"{path_of('tests.test_less')}::test_less", ""}
    monkeypatch.setattr(mutants.Copy, "failing", None)
    assert mutants.main(words) == 1
    assert "2 faults, 1 noticed\n" in capsys.readouterr().out
