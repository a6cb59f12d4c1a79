"""The walls of the house: who may import whom, one name for one thing, DVC's view equal to Python's."""

import ast
import functools
import re
from pathlib import Path
from typing import Any

import pytest

from lab.params import read_yaml
from stages.probe import params_models
from tests.helpers import ROOT

STAGES = sorted(path.stem for path in (ROOT / "stages").glob("[a-z]*.py"))
LAB = sorted(path.stem for path in (ROOT / "lab").glob("[a-z]*.py"))
PIPELINE: dict[str, Any] = read_yaml(ROOT / "dvc.yaml")["stages"]
SHARED_SECTIONS = {"seed", "devices", "data", "bench"}


def layers() -> dict[str, int]:
    """Return each lab module's layer, as lab/__init__.py lists them: plain 0, torch 1, edge 2."""
    text = (ROOT / "lab" / "__init__.py").read_text()
    parts = re.split(r"^- \*\w+\*", text, flags=re.M)[1:]
    return {name: layer for layer, part in enumerate(parts) for name in re.findall(r"`(\w+)`", part)}


@functools.cache
def imports(path: Path) -> frozenset[str]:
    """Return the modules that a file imports anywhere, `lab.data` style."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module in ("lab", "stages"):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return frozenset(found)


def closure(path: Path) -> set[str]:
    """Return the lab files that a file needs, directly or not, as paths from the root."""
    seen: set[str] = set()
    todo = [path]
    while todo:
        for module in imports(todo.pop()):
            file = ROOT / f"{module.replace('.', '/')}.py"
            name = file.relative_to(ROOT).as_posix()
            if module.startswith("lab.") and name not in seen:
                seen.add(name)
                todo.append(file)
    return seen


def python_files() -> list[Path]:
    return [ROOT / "tasks.py", *(ROOT / "lab").glob("*.py"), *(ROOT / "stages").glob("*.py")]


def test_every_module_of_the_lab_has_a_layer():
    assert sorted(layers()) == LAB


@pytest.mark.parametrize("name", LAB)
def test_imports_in_the_lab_point_from_edge_to_torch_to_plain(name):
    layer = layers()
    for module in imports(ROOT / "lab" / f"{name}.py"):
        assert not module.startswith("stages"), f"lab/{name}.py imports {module}"
        if module.startswith("lab."):
            assert layer[module.removeprefix("lab.")] <= layer[name], f"{name} imports {module}"
        if module.split(".")[0] in ("torch", "torchvision"):
            assert layer[name] > 0, f"plain {name} imports {module}"


@pytest.mark.parametrize("name", STAGES)
def test_stages_import_the_lab_and_not_each_other(name):
    assert not [module for module in imports(ROOT / "stages" / f"{name}.py") if module.startswith("stages")]


@pytest.mark.parametrize("name", STAGES)
def test_stages_do_not_import_dvc(name):
    assert not [module for module in imports(ROOT / "stages" / f"{name}.py") if module.split(".")[0] == "dvc"]


def test_one_name_for_module_and_dvc_stage():
    assert sorted(PIPELINE) == STAGES


@pytest.mark.parametrize("name", STAGES)
def test_one_name_for_command_and_reports_folder(name):
    stage = PIPELINE[name]
    arguments = stage["cmd"].removeprefix(f"python -m stages.{name}")
    assert arguments in ("", " ${item.run}"), "constant commands, at most a run's name"
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
    """A section belongs to the stage of its name, or to the lab module that several stages read it through."""
    assert set(read_yaml(ROOT / "params.yaml")) <= set(STAGES) | SHARED_SECTIONS


@pytest.mark.parametrize("name", STAGES)
def test_deps_are_the_script_and_its_import_closure(name):
    deps = {dep for dep in PIPELINE[name]["deps"] if dep.endswith(".py")}
    assert deps == closure(ROOT / "stages" / f"{name}.py") | {f"stages/{name}.py"}


def test_templates_are_deps_of_the_report():
    templates = {f"stages/templates/{path.name}" for path in (ROOT / "stages" / "templates").iterdir()}
    assert templates <= set(PIPELINE["report"]["deps"])


def test_params_that_dvc_watches_are_those_the_stages_read():
    for model in params_models():
        stage = model.__module__.removeprefix("stages.")
        watched = {entry.split(".")[0] for entry in PIPELINE[stage]["params"] if isinstance(entry, str)}
        assert watched == set(model.model_fields), stage


def test_measured_stages_depend_on_the_hardware():
    for name, stage in PIPELINE.items():
        watched = [entry for entry in stage.get("params", []) if isinstance(entry, dict)]
        measured = any(entry == "devices" for entry in stage.get("params", []))
        assert (watched == [{"reports/hardware.json": ["accelerator", "cpu", "software"]}]) == measured, name


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
        docstring = ast.get_docstring(ast.parse((ROOT / "stages" / f"{name}.py").read_text())) or ""
        assert "?" in docstring.split("\n")[0], f"stages/{name}.py starts with its question"
        assert PIPELINE[name]["desc"]


def test_downloads_go_through_the_pinned_hashes():
    """Only `download` fetches, only `doctor` asks whether a source answers, only `launch` listens (on loopback)."""
    network = {"requests", "pooch", "urllib", "urllib.request", "http.client", "socket", "torch.hub"}
    for path in python_files():
        if path.stem not in ("download", "doctor", "launch"):
            assert not imports(path) & network, path
    text = (ROOT / "lab" / "download.py").read_text()
    assert text.count("pooch.retrieve(") == 1
    assert 'f"sha256:{file.sha256}"' in text
    assert "download=True" not in "".join(path.read_text() for path in python_files())


def test_no_shell_no_pickle_no_eval():
    for path in python_files():
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call):
                continue
            name = ast.unparse(node.func)
            keywords = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
            assert keywords.get("shell") != "True", f"{path}:{node.lineno}"
            assert name not in ("eval", "os.system", "pickle.load", "pickle.loads"), f"{path}:{node.lineno}"
            if name == "torch.load":
                assert keywords.get("weights_only") == "True", f"{path}:{node.lineno}"
