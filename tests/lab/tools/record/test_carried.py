"""Packages that a bare machine lacks and that are carried there."""

import shutil
import sys
from pathlib import Path

import pytest

from lab.core.imports import closure, imports
from lab.tools.record.carried import PACKAGES, PYTHON
from lab.tools.record.parts import in_order
from tests.helpers import ROOT, python

# torch, torchvision, numpy, and what comes with them; the last is optional everywhere
THERE = {"torch", "torchvision", "numpy", "PIL", "lightning"}
BARE = ("-S", "-E")  # Python with nothing installed
WITH_OTHERS = {"pydantic_core": "pydantic", "urllib3": "requests"}


@pytest.fixture
def carried_to(tmp_path: Path) -> Path:
    """Copy the library to a folder with made-up packages in carried/."""
    shutil.copytree(
        ROOT / "lab", tmp_path / "lab", ignore=shutil.ignore_patterns("__pycache__", "*.po")
    )
    for name in PACKAGES:
        path = tmp_path / "carried" / f"{name.replace('.', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path


def test_a_record_imports_only_what_is_there_or_carried():
    commands = [ROOT / "lab" / "tools" / "record" / "__main__.py"]
    stages = {"probe", "fetch", "claims", *(part.stage for part in in_order(2))}
    commands += [ROOT / "stages" / stage / "__main__.py" for stage in stages]
    found_by_name = [*(ROOT / "stages").glob("*/measure/params.py")]
    files = {file for path in [*commands, *found_by_name] for file in closure(path)}
    found = {module for file in files for module in imports(file)}
    ours = {"lab", "stages", *sys.stdlib_module_names}
    foreign = {name.split(".")[0] for name in found} - ours - THERE
    packed = {name.split(".")[0] for name in PACKAGES}
    assert {WITH_OTHERS.get(name, name) for name in foreign} == packed


def test_a_bare_machine_says_in_one_line_what_to_carry():
    result = python(*BARE, "-m", "lab.tools.record", "h200", cwd=ROOT)
    assert result.returncode == 4
    [line] = result.stderr.splitlines()
    assert line.startswith(f"ERROR: Python {PYTHON} here lacks {', '.join(PACKAGES)}; where the")
    assert f"`invoke pack --python {PYTHON}` makes one file" in line
    assert result.stdout == ""


def test_carried_packages_are_found_unless_built_for_a_different_python(carried_to):
    program = "from lab.tools.record import carried as c; c.use(); print(c.lacking())"
    assert python(*BARE, "-c", program, cwd=carried_to).stdout == "[]\n"
    psutil = carried_to / "carried" / "psutil.py"
    psutil.write_text("raise ImportError('undefined symbol')")
    assert python(*BARE, "-c", program, cwd=carried_to).stdout == "['psutil']\n"
