"""Architecture: one name for one thing, DVC's view equal to Python's, nothing dangerous.

import-linter checks who may import whom (pyproject.toml, `invoke check`).
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.core.files import CONDITIONS, ROWS
from lab.core.imports import closure, imports
from lab.core.params import read_yaml
from lab.data.sources import AIRFOIL, FASHION_FILES
from stages.probe.__main__ import params_models
from stages.together.measure.time_to_accuracy import NOTES_RUN, RECORDS
from tests.helpers import COMMITTED, ROOT

STAGES = sorted(
    path.name for path in (ROOT / "stages").iterdir() if (path / "__main__.py").is_file()
)
PIPELINE: dict[str, Any] = read_yaml(ROOT / "dvc.yaml")["stages"]
SECONDS = {"claims": "page/claims.yaml", "report": "page/en.md"}  # read stages that have the file
COMMANDS = (ROOT / "stages", ROOT / "lab" / "tools")  # packages that handle signals from the start


def python_files() -> list[Path]:
    return [ROOT / "tasks.py", *(ROOT / "lab").rglob("*.py"), *(ROOT / "stages").rglob("*.py")]


def test_a_packages_init_imports_only_the_standard_library():
    """Otherwise every module of the package would import the same, torch included."""
    for path in python_files():
        if path.name == "__init__.py" and path.parent not in COMMANDS:
            assert imports(path) <= sys.stdlib_module_names, path


def test_folders_and_dvc_stages_have_the_same_names():
    assert sorted(PIPELINE) == STAGES


def deps(name: str, *under: str) -> set[str]:
    """Return a stage's deps under the given folders."""
    return {dep for dep in PIPELINE[name]["deps"] if dep.split("/")[0] in under}


def rooms(stage: str) -> set[str]:
    """Return what a stage's command imports: rooms of lab/, its measure/ and `__main__.py`."""

    def room(file: Path) -> str:
        parts = file.relative_to(ROOT).parts
        return "/".join(parts[: 2 if parts[0] == "lab" else 3])

    main = ROOT / "stages" / stage / "__main__.py"
    return {room(file) for file in closure(main, lambda file: file.name != "findings.py")}


@pytest.mark.parametrize("name", STAGES)
def test_deps_are_the_rooms_that_a_stage_imports(name):
    """Except its findings.py: a changed derivation needs no new measurement."""
    if name in SECONDS:
        assert deps(name, "lab", "stages") == {"lab", "stages"}
        return
    expected = sorted(rooms(name) | deps(name, "data", "reports"))
    wanted = f"dvc.yaml, {name}: deps: [{', '.join(expected)}]"
    assert deps(name, "lab", "stages") == rooms(name), wanted


@pytest.mark.parametrize(("stage", "file"), SECONDS.items())
def test_claims_and_report_depend_on_every_result(stage, file):
    told = {f"reports/{path.parents[1].name}" for path in (ROOT / "stages").glob(f"*/{file}")}
    assert deps(stage, "reports") >= told, f"dvc.yaml, {stage}: deps lack some of {sorted(told)}"


def test_the_report_depends_on_all_results_that_it_does_not_draw_itself():
    drawn = {str(path) for out in PIPELINE["report"]["outs"] for path in out}
    results = {f"reports/{path.name}" for path in (COMMITTED / "reports").iterdir()}
    assert results - drawn - {"reports/stage_seconds.json"} <= deps("report", "reports")


def test_a_stage_that_reads_data_depends_on_it():
    for name in STAGES:
        if name not in SECONDS and "lab/data" in deps(name, "lab") and name != "fetch":
            sets = deps(name, "data")
            assert "data/source.json" in sets, name
            assert sets & {"data/FashionMNIST", "data/airfoil"}, name


def test_dvc_watches_the_params_that_the_stages_read():
    for model in params_models():
        stage = model.__module__.split(".")[1]
        watched = {
            entry.split(".")[0] for entry in PIPELINE[stage]["params"] if isinstance(entry, str)
        }
        assert watched == set(model.model_fields), stage


def test_a_run_depends_on_its_own_recipe_and_on_the_defaults():
    assert {"train.defaults", "train.runs.${item.run}"} <= {*map(str, PIPELINE["train"]["params"])}


def test_own_network_depends_on_the_readers_file():
    assert "${own_network.file}" in PIPELINE["own_network"]["deps"]


def test_together_depends_on_the_training_runs_that_it_reads():
    """And on their recipes: it compares one of them with the notes'."""
    runs, params = (NOTES_RUN, *RECORDS), PIPELINE["together"]["params"]
    results = {f"reports/train/{run}/{name}" for run in runs for name in (CONDITIONS, ROWS)}
    assert deps("together", "reports") == results
    assert {"train.defaults", *(f"train.runs.{run}" for run in runs)} <= {*map(str, params)}


def test_measured_stages_depend_on_the_hardware():
    for name, stage in PIPELINE.items():
        watched = [entry for entry in stage.get("params", []) if isinstance(entry, dict)]
        measured = any(entry == "devices" for entry in stage.get("params", []))
        assert (
            watched == [{"reports/hardware.json": ["accelerator", "cpu", "software"]}]
        ) == measured, name


def test_only_data_and_weights_are_cached_and_dvc_does_not_delete_them_first():
    for name, stage in PIPELINE.items():
        for kind in ("outs", "metrics", "plots"):
            for [(path, options)] in map(dict.items, stage.get(kind, [])):
                if path.startswith(("data/", "models/")):
                    assert options == {"persist": True}, name
                else:
                    assert options["cache"] is False, path


def test_dvc_tracks_the_files_that_fetch_writes_and_no_folder_of_the_users():
    outs = {path for out in PIPELINE["fetch"]["outs"] for path in out if path.startswith("data/")}
    written = {file.path.as_posix() for file in (*FASHION_FILES, AIRFOIL)}
    assert outs == written | {"data/source.json"}


def test_few_modules_use_the_network():
    """`download` fetches, the doctor checks that sources answer, the others use only loopback.

    The take-home file lenet_83 fetches its own data.
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
        if not {"download", "doctor", "process_group", "loopback", "lenet_83"} & {
            path.stem,
            path.parent.name,
        }:
            assert not imports(path) & network, path


def calls_on_import(tree: ast.AST) -> Iterator[str]:
    """Yield the functions that a module calls on import, including in classes and defaults."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for part in (*node.decorator_list, node.args):
                yield from calls_on_import(part)
        elif not isinstance(node, ast.Lambda):
            yield from calls_on_import(node)


def test_importing_calls_no_cuda_function():
    """Fresh processes are forked after the imports, which fails once CUDA is initialized."""
    for path in python_files():
        if path.name == "do_this.py":  # nobody imports it
            continue
        found = [name for name in calls_on_import(ast.parse(path.read_text())) if "cuda." in name]
        assert not found, path
    module = ast.parse("class A:\n    n = torch.cuda.device_count()\ndef f(): torch.cuda.init()")
    assert list(calls_on_import(module)) == ["torch.cuda.device_count"]
