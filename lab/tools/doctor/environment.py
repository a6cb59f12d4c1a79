"""Python, packages, torch, the environment's variables, room and clock."""

import getpass
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

from lab.machine.answers import ask
from lab.tools.doctor.finding import Finding, fail, note, ok, python, some, warn

PYTHONS = ((3, 11), (3, 13))
INSTALL = "-m pip install -e . -c constraints.txt"
MIN_FREE_GB = 2
MIN_FREE_FILES = 1000
DAY_S = 86_400
TORCH_FACTS = (sys.executable, "-m", "lab.tools.doctor.torch_facts")
TORCH_S = 300  # to import: gigabytes of libraries, perhaps from a slow disk
VARIABLES = {
    "LAB_DEBUG": "errors end in tracebacks, exit code 1",
    "LAB_FAIL_POINT": "commands fail on purpose",
    "OMP_NUM_THREADS": "bounds the threads of every run",
    "MKL_NUM_THREADS": "bounds the threads of matrix products",
    "CUDA_VISIBLE_DEVICES": "says which GPUs there are",
    "ATEN_CPU_CAPABILITY": "keeps torch from some of the processor's instructions",
    "ONEDNN_MAX_CPU_ISA": "keeps torch from some of the processor's instructions",
    "PYTHONPATH": "modules found there come before installed ones",
    "PYTHONOPTIMIZE": "assertions are left out",
}


def interpreter() -> Iterator[Finding]:
    """The interpreter is of a supported version, and the one that `python` means."""
    found = sys.version.split()[0]
    if not PYTHONS[0] <= sys.version_info[:2] <= PYTHONS[1]:
        yield fail(
            f"Python {found}, and the lab needs 3.11, 3.12 or 3.13",
            "python3.13 -m venv .venv && .venv/bin/pip install -e . -c constraints.txt",
        )
        return
    on_path = shutil.which("python")
    if on_path is None or Path(on_path).parent.resolve() != Path(sys.executable).parent.resolve():
        yield warn(
            f"`python` on PATH is {on_path}, for which `dvc repro` is another one than for"
            " `invoke repro`",
            f"source {Path(sys.executable).parent / 'activate'}",
        )
    else:
        yield ok(f"Python {found} at {sys.executable}")


def packages() -> Iterator[Finding]:
    """Every dependency is installed in a version that pyproject.toml admits."""
    from packaging.requirements import Requirement

    try:
        lines = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
        wanted, extras = lines["dependencies"], lines["optional-dependencies"]
    except (OSError, ValueError, KeyError):  # what that file lacks, other checks say
        wanted, extras = requires("d2l-lab") or [], {}

    def wrong(line: str) -> str:
        requirement = Requirement(line)
        if requirement.marker is not None and not requirement.marker.evaluate():
            return ""
        try:
            found = version(requirement.name)
        except PackageNotFoundError:
            return f"{requirement} (found nothing)"
        fits = requirement.specifier.contains(found, prereleases=True)
        return "" if fits else f"{requirement} (found {found})"

    problems = [problem for line in wanted if (problem := wrong(line))]
    if problems:
        yield fail(some(problems, 5), python(INSTALL))
        return
    try:
        version("d2l-lab")
    except PackageNotFoundError:
        yield fail("the lab is not installed here", python(INSTALL))
        return
    absent = [name for name, lines in extras.items() if any(wrong(line) for line in lines)]
    without = f", without the extra(s) {', '.join(absent)}" if absent else ""
    yield ok(f"{len(wanted)} dependencies within their ranges{without}")


def torch_and_torchvision() -> Iterator[Finding]:
    """Torch and torchvision belong to one release, and import, in a process that may crash."""
    answer = ask(TORCH_FACTS, TORCH_S)
    lines = [json.loads(line) for line in answer.stdout.splitlines() if line.startswith("{")]
    facts = {name: value for line in lines for name, value in line.items()}
    if "gpus" in facts:
        yield from _torch(facts)
    elif facts:
        yield fail(f"torch {facts['torch']} asks for GPUs and {answer.problem}", "sudo reboot")
    elif answer.problem.startswith("ends with"):
        yield fail(f"torch does not import: {answer.last_word()}", python(INSTALL))
    elif answer.problem.startswith("ends in"):
        yield fail(
            f"importing torch {answer.problem}: a build for another machine", python(INSTALL)
        )
    else:
        yield fail(f"importing torch {answer.problem}", python(INSTALL))


def _torch(facts: dict[str, Any]) -> Iterator[Finding]:
    pair = f"torch {facts['torch']}, torchvision {facts['torchvision']}"
    minors = [int(facts[name].split(".")[1]) for name in ("torch", "torchvision")]
    if minors[1] - minors[0] != 15:  # 2.11 goes with 0.26, 2.12 with 0.27, ...
        yield fail(f"{pair} are of different releases", python(INSTALL))
    elif "problem" in facts:
        yield fail(facts["problem"])
    elif shutil.which("nvidia-smi") and not facts["gpus"]:
        why = (
            "none is visible to it (CUDA_VISIBLE_DEVICES, a container without them)"
            if facts.get("cuda")
            else "it is a build for the processor alone; pytorch.org, “Start locally”, has others"
        )
        yield warn(
            f"{pair}: there is an NVIDIA driver, but this torch uses no GPU: {why}", "nvidia-smi"
        )
    else:
        operators = "" if facts["operators"] else "; torchvision's own operators are not needed"
        yield ok(f"{pair}, {facts['gpus']} CUDA GPU(s){operators}")


def variables() -> Iterator[Finding]:
    """What the environment changes of how the lab works."""
    for name, meaning in VARIABLES.items():
        if os.environ.get(name):
            yield note(f"{name}={os.environ[name]}: {meaning}", f"unset {name}")
    if {"RANK", "WORLD_SIZE"} <= set(os.environ):
        yield fail(
            "RANK and WORLD_SIZE are set: every command takes itself for one of several processes",
            "unset RANK WORLD_SIZE",
        )
    if os.environ.get("GIT_DIR") or os.environ.get("GIT_WORK_TREE"):
        yield warn(
            "GIT_DIR or GIT_WORK_TREE is set: git looks elsewhere", "unset GIT_DIR GIT_WORK_TREE"
        )


def user() -> Iterator[Finding]:
    """This user has a name, which DVC asks for, and a shell that runs DVC's commands."""
    try:
        getpass.getuser()
    except (KeyError, OSError, ImportError):
        yield fail(f"user {os.getuid()} has no name, and DVC asks for one", "export USER=lab")
    shell = os.environ.get("SHELL")
    try:
        runs = not shell or subprocess.run([shell, "-c", "exit 7"], check=False).returncode == 7
    except OSError:
        runs = False
    if not runs:
        yield fail(
            f"SHELL={shell} runs no commands, and DVC's are run by it", "export SHELL=/bin/sh"
        )


def room() -> Iterator[Finding]:
    """There is room for data, weights and DVC's cache, and for temporary files."""
    folders = {
        Path.cwd(),
        Path(tempfile.gettempdir()),
        *map(Path.resolve, _existing(Path(".dvc/cache"))),
    }
    free = {str(folder): shutil.disk_usage(folder).free / 1e9 for folder in sorted(folders)}
    short = [f"{folder} has {gb:.1f} GB free" for folder, gb in free.items() if gb < MIN_FREE_GB]
    if hasattr(os, "statvfs"):
        found = {folder: os.statvfs(folder) for folder in free}
        short += [
            f"{folder} has room for {at.f_favail} more files"
            for folder, at in found.items()
            if at.f_files and at.f_favail < MIN_FREE_FILES
        ]
    if short:
        yield fail(
            f"{', '.join(short)}, and {MIN_FREE_GB} GB are needed",
            f"du -xhd1 {Path.cwd()} | sort -h | tail",
            exit_code=8,
        )
    else:
        yield ok(f"{min(free.values()):.0f} GB free")


def clock() -> Iterator[Finding]:
    """No file is from the future: then the clock is wrong, or was."""
    files = _existing(*map(Path, ("params.yaml", "dvc.lock", "data/source.json", "lab")))
    newest = max(files, key=lambda path: path.stat().st_mtime, default=None)
    if newest and (ahead := newest.stat().st_mtime - time.time()) > DAY_S:
        yield warn(
            f"{newest} was written {ahead / DAY_S:.0f} days from now, which is {time.ctime()}:"
            " results do not depend on the clock, downloads do",
            "timedatectl set-ntp true",
        )


def _existing(*paths: Path) -> list[Path]:
    return [path for path in paths if path.exists()]


CHECKS = (interpreter, packages, torch_and_torchvision, variables, user, room, clock)
