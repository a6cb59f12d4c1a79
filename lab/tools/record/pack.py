"""Pack one file to carry to a machine that has torch, torchvision, numpy, and perhaps no network.

`invoke pack --python 3.12` packs the code, the data, earlier visits' results, and the packages that
such a machine lacks, for that Python on x86-64 Linux.
"""

import logging
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from lab.core.errors import DataError, MachineError, ParamsError
from lab.data.datasets import DATA, SOURCE_FILE
from lab.tools.record import carried
from lab.tools.references import REFERENCE

FOLDER, FORMAT = "d2l-lab", ".tar.gz"  # the file unpacks into this folder
TARGET = Path(f".lab/{FOLDER}{FORMAT}")
CODE = ("lab", "stages", "profiles", "pyproject.toml", "constraints.txt", "params.yaml")
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")

log = logging.getLogger(__name__)


def pack(python: str = "") -> None:
    """Write the file for a version of Python (by default this one), and log how to use it.

    Raises:
        ParamsError: `python` is not a version.
        DataError: there are no data.
        MachineError: pip did not get the packages.
    """
    python = python or carried.PYTHON
    if not all(map(str.isdigit, python.split("."))):
        raise ParamsError(f"--python {python!r}: expected a version, as 3.12; give one")
    if not (DATA / SOURCE_FILE).is_file():
        raise DataError(f"{DATA}/: no data to carry; `invoke repro --stage fetch` brings them")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / FOLDER
        _packages(root / carried.FOLDER.name, python)
        for name in (*CODE, DATA.name):
            if Path(name).is_dir():  # copies what DVC's links point to
                shutil.copytree(name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(name, root)
        (root / REFERENCE).mkdir(parents=True)
        for path in REFERENCE.glob("*.json"):  # to continue an earlier visit
            shutil.copy(path, root / REFERENCE)
        TARGET.parent.mkdir(parents=True, exist_ok=True)
        shutil.make_archive(str(TARGET).removesuffix(FORMAT), "gztar", folder, FOLDER)
    log.info("%s, %.0f MB; where you carry it:", TARGET, TARGET.stat().st_size / 1e6)
    log.info("tar xzf %s && cd %s && python3 -m lab.tools.record NAME", TARGET.name, FOLDER)
    log.info("and bring back reports/reference")


def _packages(folder: Path, python: str) -> None:
    """Have pip install the packages and their dependencies into a folder.

    Raises:
        MachineError: pip is missing or fails.
    """
    if not find_spec("pip"):  # uv's environments have none
        raise MachineError("this environment has no pip, which packs; `uv pip install pip`")
    command = [
        *(sys.executable, "-m", "pip", "install", "--quiet", "--no-compile"),
        *("--target", str(folder), "--only-binary=:all:", "--python-version", python),
        *(f"--platform={platform}" for platform in PLATFORMS),
        *("--constraint", "constraints.txt", *carried.PACKAGES),
    ]
    pip = subprocess.run(command, capture_output=True, text=True, check=False)
    if pip.returncode:
        said = [line for line in pip.stderr.splitlines() if line.startswith("ERROR: ")]
        why = said[0].removeprefix("ERROR: ") if said else f"exit code {pip.returncode}"
        raise MachineError(
            f"pip has no packages for Python {python} ({why}); it needs a network, or a version"
            " that pyproject.toml allows"
        )
