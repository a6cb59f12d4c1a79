"""One file to carry, made by pip from made-up packages."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from lab.core.errors import DataError, MachineError, ParamsError
from lab.tools.record.carried import PACKAGES
from lab.tools.record.pack import CODE, TARGET, pack
from lab.tools.references import REFERENCE
from tests.helpers import ROOT, files, write_data

PINNED = dict(
    line.split("==") for line in (ROOT / "constraints.txt").read_text().split() if "==" in line
)


def write_wheel(folder: Path, name: str, version: str, tags: str) -> None:
    """Write a wheel with an empty module."""
    stem = f"{name.replace('.', '_')}-{version}"
    with zipfile.ZipFile(folder / f"{stem}-{tags}.whl", "w") as wheel:
        head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        wheel.writestr(f"{name.replace('.', '/')}.py", "")
        wheel.writestr(f"{stem}.dist-info/METADATA", head)
        wheel.writestr(f"{stem}.dist-info/WHEEL", f"Wheel-Version: 1.0\nTag: {tags}\n")
        wheel.writestr(f"{stem}.dist-info/RECORD", "")


@pytest.fixture
def ready(project, monkeypatch):
    """Prepare the project's code and data, and a folder of wheels as pip's only source."""
    write_data(project / "data", train=600, test=100)
    for name in CODE:
        if (ROOT / name).is_file():
            shutil.copy(ROOT / name, project)
    for name in ("lab", "stages"):
        (project / name / "__pycache__").mkdir(parents=True)
        (project / name / "__init__.py").touch()
        (project / name / "__pycache__" / "old.pyc").touch()
    (project / REFERENCE / "t4").mkdir(parents=True)
    for name in ("t4.json", "t4/rows.csv"):
        (project / REFERENCE / name).touch()
    wheels = project / "wheels"
    wheels.mkdir()
    for name in PACKAGES:
        own = "cp312-cp312-manylinux_2_17_x86_64" if name == "psutil" else "py3-none-any"
        write_wheel(wheels, name, PINNED[name], own)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    return project


def test_the_file_holds_code_data_and_packages_for_the_other_python(ready):
    pack("3.12")
    (ready / "there").mkdir()
    subprocess.run(["tar", "xzf", TARGET, "-C", "there"], check=True)
    there = ready / "there" / "d2l-lab"
    assert files(there / "data") == files(ready / "data")
    assert files(there / "profiles") == files(ready / "profiles")
    assert files(there / "reports") == {"reference/t4.json"}
    assert {path.split("/")[0] for path in files(there)} == {*CODE, "data", "carried", "reports"}
    assert not list(there.rglob("__pycache__"))
    packed = {path for path in files(there / "carried") if path.endswith(".py")}
    assert packed == {f"{name.replace('.', '/')}.py" for name in PACKAGES}


def test_a_package_that_pip_cannot_find_or_a_missing_pip_is_reported(ready, monkeypatch):
    with pytest.raises(MachineError, match=r"for Python 3\.13 \(.*psutil.*\); it needs a network"):
        pack("3.13")
    monkeypatch.setitem(sys.modules, "pip", None)  # as in an environment made by uv
    with pytest.raises(MachineError, match="`uv pip install pip`"):
        pack("3.12")


@pytest.mark.parametrize("python", ["3.x", "3."])
def test_an_invalid_version_is_refused(ready, python):
    with pytest.raises(ParamsError, match="expected a version"):
        pack(python)


def test_without_data_there_is_nothing_to_carry(ready):
    shutil.rmtree(ready / "data")
    with pytest.raises(DataError, match="`invoke repro --stage fetch` brings them"):
        pack("3.12")
