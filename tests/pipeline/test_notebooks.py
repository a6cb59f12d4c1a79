"""The notebooks run from top to bottom, on a checkout or on the source that a reader names."""

import re
import tomllib

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from packaging.requirements import Requirement

from lab.core.files import read_json
from tests.helpers import ROOT, write_data
from tests.pipeline.conftest import commit, shell

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
SMALL = {"NAME": "of-a-test", "PROFILE": "smoke", "BUDGET": 60}


def read(path):
    return nbformat.read(path, as_version=4)


@each_notebook
def test_neither_outputs_nor_addresses_are_committed(path):
    notebook = read(path)
    nbformat.validate(notebook)
    assert [c for c in notebook.cells if c.get("outputs") or c.get("execution_count")] == []
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    assert re.findall(r'^(\w+) = ""', first.source, re.MULTILINE) == ["SOURCE", "COMMIT"]


def test_the_torch_that_replaces_an_older_one_is_the_oldest_supported():
    [asked] = [
        re.findall(r"(torch\w*)==(\S+)", cell.source)
        for cell in read(ROOT / "notebooks" / "record.ipynb").cells
        if cell.id == "install"
    ]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    ranges = {one.name: one.specifier for one in map(Requirement, project["dependencies"])}
    for name, version in asked:
        assert version in ranges[name]
        lowest = next(each.version for each in ranges[name] if each.operator == ">=")
        assert version == f"{lowest}.0"
    assert dict(asked).keys() == {"torch", "torchvision"}


def run(notebook, folder):
    """Run all cells in the notebook's folder, as Jupyter does; raise if one fails."""
    client = NotebookClient(
        notebook, timeout=600, resources={"metadata": {"path": str(folder / "notebooks")}}
    )
    return client.execute()


def fill_in(cell, **values):
    """Change the values that a cell assigns to names."""
    for name, value in values.items():
        cell.source, n = re.subn(f"(?m)^{name} = [^ ]*", f"{name} = {value!r}", cell.source)
        assert n == 1, name


def shown(cell, kind):
    return "".join(out["data"].get(kind, "") for out in cell.outputs if "data" in out)


def said(cell):
    return "".join(out["text"] for out in cell.outputs if out["output_type"] == "stream")


@pytest.mark.slow
def test_a_record_is_made_shown_and_offered_for_download_and_nothing_else_changes(clone):
    write_data(clone / "data", train=600, test=100)
    notebook = read(clone / "notebooks" / "record.ipynb")
    cells = {cell.id: cell for cell in notebook.cells}
    fill_in(cells["machine"], **SMALL)
    run(notebook, clone)
    record = read_json(clone / "reports" / "reference" / "of-a-test.json")
    assert any(isinstance(found, dict) for found in record["stages"].values())
    assert "of-a-test.json" in shown(cells["download"], "text/html")
    head, _, *rows = shown(cells["table"], "text/markdown").splitlines()
    assert head.startswith("| claim | it says | of-a-test | committed |")
    assert len(rows) > 1
    changed = shell(clone, "git", "status", "--porcelain").splitlines()
    assert changed == [f"?? reports/reference/of-a-test{end}" for end in (".json", "/")]


def run_elsewhere(path, folder, **values):
    """Run the cells without a checkout, up to the first code cell after the one that fetches."""
    (folder / "notebooks").mkdir()
    notebook = read(path)
    ids = [cell.id for cell in notebook.cells]
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    fetch = notebook.cells[ids.index("fetch")]
    after = code[code.index(fetch) + 1]
    notebook.cells = notebook.cells[: ids.index(after.id) + 1]
    fill_in(code[0], **values)
    stopped = None
    try:
        run(notebook, folder)
    except CellExecutionError as error:
        stopped = error
    return fetch, after, stopped


@pytest.mark.slow
@pytest.mark.parametrize("latest", [True, False])
@each_notebook
def test_without_a_checkout_the_source_is_fetched_and_its_commit_shown(
    clone, tmp_path, path, latest
):
    first = shell(clone, "git", "rev-parse", "HEAD").strip()
    (clone / "later").touch()
    commit(clone)
    head = shell(clone, "git", "rev-parse", "HEAD").strip()
    values = {"SOURCE": clone.as_uri(), "COMMIT": "" if latest else first}
    fetch, after, stopped = run_elsewhere(path, tmp_path, **values)
    assert stopped is None
    assert f"commit {head if latest else first}" in said(fetch)
    assert after.execution_count
    assert (tmp_path / "notebooks" / "d2l-lab" / "later").exists() == latest


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "said"), [("", "into SOURCE"), ("file:///nowhere", "file:///nowhere")]
)
@each_notebook
def test_a_notebook_whose_source_cannot_be_fetched_stops_and_says_so(tmp_path, path, source, said):
    _, after, stopped = run_elsewhere(path, tmp_path, SOURCE=source)
    assert stopped is not None and said in stopped.evalue
    assert after.execution_count is None
    if not source:
        assert len(stopped.evalue.splitlines()) == 1
        assert "Traceback" not in stopped.traceback


@pytest.mark.slow
def test_rows_become_a_figure(clone):
    notebook = run(read(clone / "notebooks" / "rows.ipynb"), clone)
    assert any(shown(cell, "image/png") for cell in notebook.cells if cell.cell_type == "code")
