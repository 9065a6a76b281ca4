"""The notebooks run from top to bottom, are short, and keep modest pictures."""

import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
MOST_BYTES = 100_000
SECONDS = 300  # for a cell: kernels may have to be compiled first


def test_there_are_four() -> None:
    assert [path.stem for path in NOTEBOOKS] == [
        "add-a-game", "alpha-beta-ideas", "explore-5x4", "where-are-the-draws",
    ]  # fmt: skip


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_they_are_modest_and_name_no_machine(path: Path) -> None:
    text = path.read_text()
    assert len(text) < MOST_BYTES
    outputs = json.dumps([cell.get("outputs") for cell in json.loads(text)["cells"]])
    assert "/tmp" not in outputs
    assert "/home" not in outputs
    assert "Traceback" not in outputs


@pytest.mark.notebook
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_they_run(path: Path) -> None:
    nbclient = pytest.importorskip("nbclient", reason="the extra `notebooks` is not installed")
    pytest.importorskip("ipykernel", reason="the extra `notebooks` is not installed")
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.read(path, as_version=4)
    where = {"metadata": {"path": str(FOLDER)}}
    nbclient.NotebookClient(notebook, timeout=SECONDS, resources=where).execute()
    run = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in run)
