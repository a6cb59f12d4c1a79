"""Ways to train, each in a process of its own, timed in turn.

So no arm's allocator, threads or loaders help or hinder another's.
"""

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TypeVar

import torch
from torch.autograd.profiler import profile
from tqdm import tqdm

from lab.core.errors import LabError
from lab.machine.fresh_process import fresh_process, silence_stdout
from lab.timing.bench import turns
from lab.timing.visits import starts_in_time
from stages.bench_training.measure.arm_turns import TrainingArm, Turn, turn_of

WARM_UP_STEPS = 2  # of a turn that does not count
TRACED_STEPS = 3  # of one that is traced
T = TypeVar("T")


class UnableError(LabError):
    """This machine's compilers do not manage an arm; the others race without it."""


def race(
    arms: Mapping[T, TrainingArm], starts: int, traces: Path | None = None
) -> tuple[dict[T, tuple[float, ...]], dict[T, str]]:
    """Seconds per step of each arm: sample i is from the turn that it took in start i.

    Second, why those arms cannot race here that cannot. For each start all processes are new: one
    and the same program can be a quarter faster or slower from one start to the next, which the
    turns of one process do not show. A start's first round of short turns does not count; the
    orders of its second one are those of `turns`. There are fewer starts if there is a deadline.
    The first start's processes are traced into the folder `traces` when all have taken their turns.

    Raises:
        LabError: an arm's process ended.
    """
    seconds: dict[T, list[float]] = {name: [] for name in arms}
    unable: dict[T, str] = {}
    for start in tqdm(starts_in_time(starts), "race", total=starts, leave=False, disable=None):
        with _processes({name: arms[name] for name in seconds}) as take:
            for name in list(seconds):
                try:
                    take(name, min(WARM_UP_STEPS, arms[name].steps))
                except UnableError as error:
                    unable[name] = str(error)
                    del seconds[name]
            for name in turns(list(seconds), 1, start):
                seconds[name].append(take(name, arms[name].steps))
            if traces and start == 0:
                for name in filter(lambda name: _can_be_traced(arms[name]), seconds):
                    with suppress(LabError):  # a profiler that fails here fails no race
                        take(name, traces / _file_of(name))
    return {name: tuple(samples) for name, samples in seconds.items()}, unable


def by_hand(arm: TrainingArm, rounds: int) -> tuple[float, ...]:
    """Seconds per step of an arm's first turns, in a process that is alone and nothing warmed up.

    So a reader times it who starts a program and looks at the clock.

    Raises:
        LabError: the arm's process ended.
    """
    with _processes({"alone": arm}) as take:
        return tuple(take("alone", arm.steps) for _ in range(rounds))


def _can_be_traced(arm: TrainingArm) -> bool:
    """Whether its loop is ours, and starts no processes, which torch's profiler of GPUs forbids."""
    return arm.kind != "lightning" and not arm.num_workers


def _file_of(name: object) -> str:
    """The file of an arm's trace: `lenet-engine-bf16.json` of ("lenet", "engine, bf16")."""
    return "-".join(re.findall(r"\w+", str(name))) + ".json"


@contextmanager
def _processes(arms: Mapping[T, TrainingArm]) -> Iterator[Callable[[T, int | Path], float]]:
    """The arms' processes, as a function that has one of them take a turn of so many steps.

    Or, given a file, a short one that is traced into it.
    """
    with ExitStack() as stack:
        processes = {
            name: stack.enter_context(fresh_process(f"arm {name!r}", serve, arm))
            for name, arm in arms.items()
        }

        def take(name: T, wanted: int | Path) -> float:
            processes[name].send(wanted)
            return float(processes[name].receive())

        yield take


def serve(link: Connection, arm: TrainingArm) -> None:
    """Be an arm's process: answer numbers of steps with the seconds that one of them took.

    The first request is a number; a later one may be a file for a trace.
    """
    logging.disable(logging.WARNING)
    silence_stdout()
    if arm.kind == "lightning":
        from stages.bench_training.measure.lightning_arm import (
            serve_lightning,  # its package is optional
        )

        serve_lightning(arm, link)
        return
    steps = link.recv()  # before it is asked it leaves the processor to the others
    try:
        turn = turn_of(arm)
        seconds = turn(steps)  # a net is compiled when it is first called
    except Exception as error:  # whatever a compiler of this machine does not manage
        if arm.compile_mode == "none":
            raise
        link.send(UnableError(f"does not compile here ({type(error).__name__})"))
        return
    while True:
        link.send(seconds)
        wanted = link.recv()
        seconds = _traced(turn, wanted) if isinstance(wanted, Path) else turn(wanted)


def _traced(turn: Turn, path: Path) -> float:
    """Take a short turn under the profiler; Chrome and Perfetto show what it writes.

    `torch.profiler.profile`, which wraps this one, imports Inductor, for seconds in each process.
    """
    with profile(use_device="cuda" if torch.cuda.is_available() else None, use_kineto=True) as seen:
        seconds = turn(TRACED_STEPS)
    seen.export_chrome_trace(str(path))
    return seconds
