"""Many inputs on every target, one after the other, in processes that are watched."""

import multiprocessing
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from tqdm import tqdm

from tests.faults.fuzz.outcome import Outcome
from tests.faults.fuzz.worker import save, work

START_S, SILENCE_S = 120, 60  # until a worker's first input; between two inputs
MOST_DEATHS = 5  # of workers on one target: enough to see what is wrong
MEMORY = Path("/dev/shm")  # noqa: S108  (folders of our own in it: files are written for each input)
OURS = {"project", "now", "findings", "words"}  # of a worker's folder
SPAWN = multiprocessing.get_context("spawn")


@dataclass
class Tally:
    """What became of a target's inputs."""

    name: str
    inputs: int = 0
    refused: int = 0
    accepted: int = 0
    unclear: int = 0
    seconds: float = 0.0

    def add(self, counts: Sequence[int]) -> None:
        """Count what a worker counted."""
        self.inputs += counts[0]
        self.refused += counts[1]
        self.accepted += counts[2]
        self.unclear += counts[3]
        self.seconds += counts[4] / 1000

    def cells(self) -> tuple[str, ...]:
        """A row of the table."""
        numbers = (self.inputs, self.refused, self.accepted, self.unclear)
        rate = self.inputs / self.seconds if self.seconds else 0
        return (self.name, *(f"{n:,}" for n in numbers), f"{rate:,.0f}")


def try_target(
    name: str, guided: bool, seed: int, seconds: float, most: int, kept: Path, bar: "tqdm[Any]"
) -> Tally:
    """Try inputs on a target for so long, in as many processes as it takes; keep its findings."""
    engine = "atheris" if guided else "hypothesis"
    tally = Tally(f"{name}, {engine}")
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as made:
        folder = Path(made)
        for again in range(MOST_DEATHS):
            counts = SPAWN.Array("q", 5)
            left = (seconds - tally.seconds, most - tally.inputs)
            job = (name, guided, seed + again, *left, folder, counts)
            process = SPAWN.Process(target=work, args=job)
            process.start()
            end = _watch(process, counts, bar)
            tally.add(counts)
            if not end:
                break
            tally.unclear += 1
            save(folder / "findings", name, _tried(folder), Outcome("unclear", end, end))
        if {path.name for path in folder.iterdir()} - OURS:
            raise AssertionError(f"{name}: files outside its project: {list(folder.iterdir())}")
        for path in (folder / "findings").glob("*"):
            kept.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, kept / f"{engine}-{path.name}")
    return tally


def _watch(process: BaseProcess, counts: Sequence[int], bar: "tqdm[Any]") -> str:
    """Wait for a worker; what is wrong with its end, if anything is."""
    seen, deadline = 0, time.monotonic() + START_S
    while process.is_alive():
        process.join(0.5)
        if counts[0] > seen:
            bar.update(counts[0] - seen)
            seen, deadline = counts[0], time.monotonic() + SILENCE_S
        elif time.monotonic() > deadline:
            process.kill()
            process.join()
            return "the process hung"
    return f"the process ended with {process.exitcode}" if process.exitcode else ""


def _tried(folder: Path) -> tuple[str, bytes]:
    """The input that a worker was at when it ended."""
    path, length, content = (folder / "now").read_bytes().split(b"\n", 2)
    return path.decode(), content[: int(length)]
