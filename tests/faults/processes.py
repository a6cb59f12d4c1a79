"""Commands as a user runs them, with everything that they start known, however it got away."""

import contextlib
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import psutil

MARK = "LAB_RUN_ID"  # in the environment of all that a command starts
WITHIN_S = 10.0  # a signal's promise
LAYERS = ("invoke", "dvc", "stage", "rank", "fresh")


@dataclass
class Command:
    """A command that runs, in a session of its own."""

    words: list[str]
    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Start it."""
        self.mark = secrets.token_hex(8)
        self.hung = ""  # what still ran when nobody waited any longer
        # no pipe, which an orphan would keep open
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self.process = subprocess.Popen(
            self.words,
            cwd=self.folder,
            env=os.environ | dict(self.environment) | {MARK: self.mark},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self.errors,
            start_new_session=True,
        )

    def family(self) -> list[psutil.Process]:
        """All living processes that the command started, itself included."""
        return list(_marked(self.mark))

    def layer(self, name: str) -> list[psutil.Process]:
        """Those of its processes that are `name`, one of LAYERS."""
        return [process for process in self.family() if layer_of(process) == name]

    def wait_for(self, condition: Callable[[], object], seconds: float = 60) -> bool:
        """Wait until something holds; False if the command ended first, or it took too long."""
        deadline = time.monotonic() + seconds
        while not condition():
            if self.process.poll() is not None or time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True

    def end(self, seconds: float = 120) -> tuple[int, list[str]]:
        """Wait for its end: the exit code as a shell has it, and the lines on stderr.

        What does not end in so many seconds is killed, and told as `hung`.
        """
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.hung = f"still ran after {seconds:.0f} s: {self.orphans(0)}"
            code = self.process.wait()
        self.errors.seek(0)
        return (code if code >= 0 else 128 - code), self.errors.read().splitlines()

    def orphans(self, seconds: float = WITHIN_S) -> list[str]:
        """What still lives so many seconds from now, killed then; empty as soon as nothing does."""
        deadline = time.monotonic() + seconds
        while (left := self.family()) and time.monotonic() < deadline:
            time.sleep(0.05)
        said = [describe(process) for process in left]
        for process in left:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        return said


def invoke(*words: str) -> list[str]:
    """The command line of an invoke task."""
    return [sys.executable, "-m", "invoke", *words]


def stage(*words: str) -> list[str]:
    """The command line of a stage."""
    return [sys.executable, "-m", *words]


def layer_of(process: psutil.Process) -> str:
    """Which of LAYERS a process is: `fresh` is forked by a stage for a measurement."""
    with contextlib.suppress(psutil.NoSuchProcess):
        words = process.cmdline()
        text = " ".join(words)
        if "lab.machine.child" in text:
            return "rank"
        if "multiprocessing" in text:
            return "fresh"
        if any(word.startswith("stages.") for word in words):
            return "stage"
        if any(Path(word).name == "dvc" for word in words[:3]):
            return "dvc"
        if "invoke" in words:
            return "invoke"
    return "other"


def describe(process: psutil.Process) -> str:
    """A process in a line."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return f"{layer_of(process)} {process.pid}: {' '.join(process.cmdline())[:120]}"
    return f"{process.pid}, just ended"


def _marked(mark: str) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied, FileNotFoundError):
            if process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                yield process
