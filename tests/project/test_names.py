"""What `import tablebase` offers stays what it is, whatever else was imported."""

import pkgutil
from importlib import import_module
from types import ModuleType

import pytest

import tablebase as tb

# Functions that are planned: their names are taken, too.
PLANNED = {
    "play", "player", "review", "explain", "puzzles", "judge", "analyse", "analyze", "solve",
    "counts",
    "random_position", "add_game", "from_openspiel", "export",
}  # fmt: skip
NOT_IMPORTED = {"tablebase.__main__"}  # it runs a command


def test_no_module_has_the_name_of_a_public_function() -> None:
    """Importing it would hide the function: the second `tb.build("5x4")` failed so."""
    modules = {module.name for module in pkgutil.iter_modules(tb.__path__)}
    assert modules & (set(tb.__all__) | PLANNED) == set()


def test_public_functions_work_after_all_modules_were_imported(tmp_path) -> None:
    pytest.importorskip("distributed", reason="clusters need the extra `cluster`")
    for module in pkgutil.walk_packages(tb.__path__, "tablebase."):
        if module.name not in NOT_IMPORTED:
            import_module(module.name)
    for name in tb.__all__:
        assert not isinstance(getattr(tb, name), ModuleType), name
    board = tb.board("3x3 connect=3")
    assert tb.plan(board).positions > 0
    path = tb.build(board, tmp_path / "t.h5").path
    assert tb.build("3x3 connect=3", path).was_there
    assert tb.verify(path).plies == 10
    with tb.open_tablebase(path) as table:
        assert table.probe_wdl("") == 0
    with tb.oracle(board, folder=tmp_path) as oracle:
        assert oracle.probe("").value == 0
    assert tb.solver("3x3 connect=3").solve("").value == 0


def test_help_shows_what_a_build_takes() -> None:
    import inspect

    for function in (tb.plan, tb.build):
        found = inspect.signature(function).parameters
        assert {"memory", "threads", "processes", "distances", "cluster", "task_memory"} <= set(
            found
        )
        assert all(one.kind is not inspect.Parameter.VAR_KEYWORD for one in found.values())
        assert all(one.annotation is not inspect.Parameter.empty for one in found.values())
        assert (function.__doc__ or "").count("memory") > 1
