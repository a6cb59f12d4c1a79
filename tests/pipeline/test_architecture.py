"""The walls of the house: one name for one thing, DVC's view equal to Python's, nothing dangerous.

Who may import whom is import-linter's business (pyproject.toml, `invoke check`).
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.claims.book_order import BOOK_ORDER
from lab.core.params import read_yaml
from stages.probe.__main__ import params_models
from tests.helpers import ROOT
from tests.pipeline.imports import closure, imports

STAGES = sorted(
    path.name for path in (ROOT / "stages").iterdir() if (path / "__main__.py").is_file()
)
PIPELINE: dict[str, Any] = read_yaml(ROOT / "dvc.yaml")["stages"]
SHARED_SECTIONS = {"seed", "devices", "data", "bench"}
NOT_RESULTS = {
    "section.py",
    "clusters_section.py",
    "runs_section.py",
    "torch_section.py",
    "explorables.py",
    "claims.py",
    "zh.po",
    "__init__.py",
}  # of a stage: what tells of its results
COMMANDS = (ROOT / "stages", ROOT / "lab" / "tools")  # packages that hear signals from the start
SECONDS = ("claims", "report")  # which depend on all of lab/ and stages/


def python_files() -> list[Path]:
    return [ROOT / "tasks.py", *(ROOT / "lab").rglob("*.py"), *(ROOT / "stages").rglob("*.py")]


def test_every_init_of_a_package_is_a_docstring():
    """Whatever a package's __init__ imports, torch included, all of its modules would."""
    for path in python_files():
        if path.name == "__init__.py" and path.parent not in COMMANDS:
            [node] = ast.parse(path.read_text()).body
            assert isinstance(node, ast.Expr), path


def test_rooms_are_small():
    for room in (ROOT / "lab").iterdir():
        assert len([path for path in room.glob("*.py") if path.name != "__init__.py"]) <= 8, room


def test_a_stage_reads_top_to_bottom():
    for name in STAGES:
        lines = (ROOT / "stages" / name / "__main__.py").read_text().splitlines()
        assert len(lines) <= 125, f"stages/{name}/__main__.py has {len(lines)} lines"


def test_the_books_order_names_every_stage_that_asks_of_the_book():
    assert sorted([*BOOK_ORDER, "probe", "fetch", "claims", "report"]) == STAGES


def test_stages_do_not_import_dvc():
    for path in python_files():
        assert not [module for module in imports(path) if module.split(".")[0] == "dvc"], path


def test_one_name_for_folder_and_dvc_stage():
    assert sorted(PIPELINE) == STAGES


@pytest.mark.parametrize("name", STAGES)
def test_one_name_for_command_and_reports_folder(name):
    stage = PIPELINE[name]
    arguments = stage["cmd"].removeprefix(f"python -m stages.{name}")
    assert arguments in ("", " ${item}"), "constant commands, at most a run's name, in quotes"
    own = (
        "reports/index.html",
        "reports/index.zh.html",
        "reports/README.md",
        "reports/figures",
        "reports/hardware.json",
    )
    for kind in ("outs", "metrics", "plots"):
        for entry in stage.get(kind, []):
            path = entry if isinstance(entry, str) else next(iter(entry))
            if path.startswith("reports/") and path not in own:
                assert path.startswith(f"reports/{name}/")


def test_one_name_for_params_sections():
    """A section belongs to the stage of its name, or to the lab module that several stages read it
    through.
    """
    assert set(read_yaml(ROOT / "params.yaml")) <= set(STAGES) | SHARED_SECTIONS


def folders_and_files(name: str) -> tuple[set[str], set[str]]:
    """Return the deps of a stage that are folders of ours, and those that are files."""
    ours = {dep for dep in PIPELINE[name]["deps"] if dep.startswith(("lab", "stages"))}
    folders = {dep for dep in ours if (ROOT / dep).is_dir()}
    return folders, ours - folders


@pytest.mark.parametrize("name", STAGES)
def test_deps_are_the_stages_files_and_what_they_import(name):
    """Neither too few, or results would be stale, nor too many, or they would be measured again for
    nothing.
    """
    folders, files = folders_and_files(name)
    if name in SECONDS:
        assert folders == {"lab", "stages"}
        return
    assert folders == {"lab/core"}
    needed = {
        file
        for file in closure(ROOT / "stages" / name / "__main__.py")
        if not file.startswith("lab/core/")
    }
    own = {
        path
        for path in (ROOT / "stages" / name).iterdir()
        if path.is_file() and path.name not in NOT_RESULTS and path.suffix != ".js"
    }
    needed |= {path.relative_to(ROOT).as_posix() for path in own}
    assert needed == files, f"add {sorted(needed - files)}, remove {sorted(files - needed)}"


def test_results_do_not_depend_on_how_they_are_told():
    for name in STAGES:
        if name not in SECONDS:
            told = {file for file in folders_and_files(name)[1] if Path(file).name in NOT_RESULTS}
            assert not told, name


def test_params_that_dvc_watches_are_those_the_stages_read():
    for model in params_models():
        stage = model.__module__.split(".")[1]
        watched = {
            entry.split(".")[0] for entry in PIPELINE[stage]["params"] if isinstance(entry, str)
        }
        assert watched == set(model.model_fields), stage


@pytest.mark.faults("B10")
def test_measured_stages_depend_on_the_hardware():
    for name, stage in PIPELINE.items():
        watched = [entry for entry in stage.get("params", []) if isinstance(entry, dict)]
        measured = any(entry == "devices" for entry in stage.get("params", []))
        assert (
            watched == [{"reports/hardware.json": ["accelerator", "cpu", "software"]}]
        ) == measured, name


def test_only_data_and_weights_are_cached():
    for name, stage in PIPELINE.items():
        for kind in ("outs", "metrics", "plots"):
            for entry in stage.get(kind, []):
                if isinstance(entry, str):
                    assert entry.startswith(("data/", "models/")), name
                else:
                    [(path, options)] = entry.items()
                    assert options["cache"] is False, path


def test_every_stage_says_what_it_asks():
    for name in STAGES:
        docstring = (
            ast.get_docstring(ast.parse((ROOT / "stages" / name / "__init__.py").read_text())) or ""
        )
        assert "?" in docstring.split("\n\n")[0], (
            f"stages/{name}/__init__.py starts with its question"
        )
        assert PIPELINE[name]["desc"]


def test_downloads_go_through_the_pinned_hashes():
    """Only `download` fetches, by `source_reader`; only `doctor` asks whether a source answers,
    only `launch` listens (on loopback).
    """
    network = {
        "requests",
        "pooch",
        "urllib",
        "urllib.request",
        "http.client",
        "socket",
        "torch.hub",
    }
    for path in python_files():
        if not {"download", "source_reader", "doctor", "launch"} & {path.stem, path.parent.name}:
            assert not imports(path) & network, path
    text = (ROOT / "lab" / "data" / "fetching" / "download.py").read_text()
    assert text.count("pooch.retrieve(") == 1
    assert 'f"sha256:{file.sha256}"' in text
    assert "download=True" not in "".join(path.read_text() for path in python_files())


def calls_on_import(tree: ast.AST) -> Iterator[str]:
    """The functions that a module calls when it is imported, in classes and defaults, too."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for part in (*node.decorator_list, node.args):
                yield from calls_on_import(part)
        elif not isinstance(node, ast.Lambda):
            yield from calls_on_import(node)


def test_importing_asks_nothing_of_a_gpu():
    """Fresh processes are forked from one that has imported: after CUDA started they could not."""
    for path in python_files():
        found = [name for name in calls_on_import(ast.parse(path.read_text())) if "cuda." in name]
        assert not found, path
    module = ast.parse("class A:\n    n = torch.cuda.device_count()\ndef f(): torch.cuda.init()")
    assert list(calls_on_import(module)) == ["torch.cuda.device_count"]
