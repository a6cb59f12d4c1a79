"""The notebooks run from top to bottom, and lead to this project."""

import re
import tomllib

import nbformat
import pytest
from nbclient import NotebookClient
from packaging.requirements import Requirement

from lab.core.files import read_json
from lab.report import address
from tests.helpers import ROOT, write_data
from tests.pipeline.conftest import shell

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SMALL = {"NAME": "of-a-test", "PROFILE": "smoke", "BUDGET": 120}


def read(path):
    return nbformat.read(path, as_version=4)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_not_committed_and_addresses_are_the_projects(path):
    notebook = read(path)
    nbformat.validate(notebook)
    assert [c for c in notebook.cells if c.get("outputs") or c.get("execution_count")] == []
    addresses = re.findall(r"github(?:\.com)?/([\w-]+/[\w-]+)", nbformat.writes(notebook))
    assert {f"https://github.com/{each}" for each in addresses} == {address.source()}
    assert nbformat.writes(notebook).count(f"notebooks/{path.name}") == 2


def test_the_torch_that_replaces_an_older_one_is_the_oldest_that_is_promised():
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
    """Run all cells as Jupyter does, in the notebook's folder; a cell that fails raises."""
    client = NotebookClient(
        notebook, timeout=600, resources={"metadata": {"path": str(folder / "notebooks")}}
    )
    return client.execute()


def shown(cell, kind):
    return "".join(out["data"].get(kind, "") for out in cell.outputs if "data" in out)


@pytest.mark.slow
def test_a_record_is_made_shown_and_offered_and_nothing_else_changes(clone):
    write_data(clone / "data", train=600, test=100)
    notebook = read(clone / "notebooks" / "record.ipynb")
    cells = {cell.id: cell for cell in notebook.cells}
    cells["machine"].source = "\n".join(f"{name} = {value!r}" for name, value in SMALL.items())
    run(notebook, clone)
    record = read_json(clone / "reports" / "reference" / "of-a-test.json")
    assert record["claims"]
    assert "of-a-test.json" in shown(cells["download"], "text/html")
    head, _, *rows = shown(cells["table"], "text/markdown").splitlines()
    assert head.startswith("| claim | it says | of-a-test | committed |")
    assert len(rows) > 1
    changed = shell(clone, "git", "status", "--porcelain").splitlines()
    assert changed == [f"?? reports/reference/of-a-test{end}" for end in (".json", "/")]


@pytest.mark.slow
def test_where_there_is_no_checkout_the_code_is_fetched(clone, tmp_path):
    (tmp_path / "d2l-lab").symlink_to(clone)
    (tmp_path / "notebooks").mkdir()
    notebook = read(clone / "notebooks" / "record.ipynb")
    ids = [cell.id for cell in notebook.cells]
    notebook.cells = notebook.cells[: ids.index("install") + 1]
    fetch = notebook.cells[ids.index("fetch")]
    fetch.source = fetch.source.replace(address.source(), (tmp_path / "d2l-lab").as_uri())
    run(notebook, tmp_path)
    assert (tmp_path / "notebooks" / "d2l-lab" / "params.yaml").is_file()


@pytest.mark.slow
def test_rows_become_a_figure(clone):
    notebook = run(read(clone / "notebooks" / "rows.ipynb"), clone)
    assert any(shown(cell, "image/png") for cell in notebook.cells if cell.cell_type == "code")
