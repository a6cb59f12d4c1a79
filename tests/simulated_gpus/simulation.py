"""Run commands on a machine with simulated GPUs, and read the simulation's notes."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from tests.helpers import ROOT

# The sizes for GPUs would take a CPU minutes
SMALLER = {
    "stages.bench_hardware.measure.roofline": {"GPU_BATCH_SIZE": 1},
    "lab.timing.rates": {
        "PRODUCT_ROWS": {"cpu": (64,), "cuda": (64,)},
        "COPIED_MIB": {"cpu": (1,), "cuda": (1,)},
        "IMAGES": {"cpu": 1, "cuda": 1},
    },
}
HERE = Path(__file__).resolve().parent
TORCH = Path(torch.__file__).parent
COMPILER = os.environ.get("CXX", "g++")
TIMEOUT_S = 300


@dataclass(frozen=True)
class Note:
    """An event that the simulation noted in a process.

    Attributes:
        kind: `clock`, a clock read while work was pending; `race`, a missing wait; `context`, a
            device used for the first time; `first`, a kernel's first call on a device.
        stack: lines of the project that led there, "path:line function", innermost first.
    """

    kind: str
    what: str
    stack: tuple[str, ...]

    @property
    def place(self) -> str:
        """The project's innermost file and function, other than its clock."""
        own = [line for line in self.stack if line.startswith(("lab/", "stages/"))]
        own = [line for line in own if not line.startswith("lab/timing/clock.py")]
        path, _, function = own[0].partition(" ") if own else ("", "", "")
        return f"{path.partition(':')[0]} {function}"


def missing() -> str:
    """Return what the simulation needs and lacks here, or an empty string."""
    if sys.platform != "linux":
        return "Linux"
    if torch.version.cuda or torch.version.hip:
        return "torch's build for processors: this one has kernels for GPUs"
    return "" if shutil.which(COMPILER) else f"a C++ compiler: {COMPILER} is not on PATH"


def build(folder: Path) -> None:
    """Compile the devices, and an empty driver library, into a folder."""
    compile_ = [COMPILER, "-std=c++20", "-O1", "-shared", "-fPIC"]
    torch_ = [
        f"-I{TORCH}/include",
        *(f"-L{TORCH}/lib", f"-Wl,-rpath,{TORCH}/lib", "-ltorch_cpu", "-lc10"),
    ]
    commands = [[*compile_, "-xc++", "/dev/null", "-o", str(folder / "libcuda.so.1")]]
    commands.append(
        [*compile_, str(HERE / "device.cpp"), *torch_, "-o", str(folder / "libsimulated.so")]
    )
    for command in commands:
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stderr[-5000:]
    shutil.copy(HERE / "nvidia-smi", folder)


@dataclass(frozen=True)
class Machine:
    """A machine with simulated GPUs.

    Attributes:
        built: folder of the simulation's libraries.
        mib: memory of each GPU that other processes have left free.
    """

    built: Path
    gpus: int
    mib: float = 8192

    def environment(self, notes: Path) -> dict[str, str]:
        """Return the environment of a process that has the GPUs and writes notes into a folder."""
        return os.environ | {
            "PYTHONPATH": os.pathsep.join([str(HERE / "site"), str(ROOT)]),
            "PATH": os.pathsep.join([str(self.built), os.environ["PATH"]]),
            "LD_LIBRARY_PATH": str(self.built),
            "SIMULATED_GPUS": str(self.gpus),
            "SIMULATED_GPUS_MIB": str(self.mib),
            "SIMULATED_GPUS_LIBRARY": str(self.built / "libsimulated.so"),
            "SIMULATED_GPUS_NOTES": str(notes),
            "SIMULATED_GPUS_CONSTANTS": json.dumps(SMALLER),
            "TORCHDYNAMO_DISABLE": "1",  # inductor would generate kernels for a GPU
        }

    def run(
        self, folder: Path, notes: Path, *words: str
    ) -> tuple[subprocess.CompletedProcess[str], list[Note]]:
        """Run a module in a folder; return its result and its notes, written into `notes`."""
        notes.mkdir(parents=True)
        ended = subprocess.run(
            [sys.executable, "-m", *words],
            cwd=folder,
            env=self.environment(notes),
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_S,
        )
        return ended, read_notes(notes)


def read_notes(folder: Path) -> list[Note]:
    """Return the notes of all processes."""
    lines = [line for path in sorted(folder.glob("*.jsonl")) for line in path.open()]
    return [
        Note(found["kind"], found["what"], tuple(found["stack"]))
        for found in map(json.loads, lines)
    ]


def places(notes: Sequence[Note], kind: str) -> set[str]:
    """Return the places of all notes of a kind."""
    return {note.place for note in notes if note.kind == kind}
