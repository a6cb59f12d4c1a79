"""Race training variants: each has its own process, and they alternate.

So no variant's allocator, threads or loaders help or hinder another variant. In each repetition,
the order differs and each variant gives one sample.
"""

import logging
import math
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Generic, TypeVar

import torch
from tqdm import tqdm

from lab.core.errors import LabError, MachineError
from lab.machine.fresh_process import FreshProcess, fresh_process, silence_stdout
from lab.nets.step_parts import StepPart
from lab.results.reasons import FAILED, NO_TIME, Reason
from lab.timing.bench import balanced_turns
from lab.timing.deadline import time_left_s, until_deadline
from lab.timing.profiler import profile
from stages.bench_training.measure.loops import TrainingTurns, Turn, turn_of
from stages.bench_training.measure.variants import TrainingVariant

WARM_UP_STEPS = 2  # in the turn that does not count
IN_PARTS, STEPS_IN_PARTS = "parts", 2  # a request, and the steps that are averaged
TRACED_STEPS = 3  # in a traced turn
COMPILING_SHARE = 0.5  # of the time left until a deadline
LEAST_TO_COMPILE_S = 240  # compiling LeNet's step took two minutes on an H100
T = TypeVar("T")


class UnableError(LabError):
    """This machine's compilers cannot compile a variant; the others race without it."""


@dataclass(frozen=True)
class Race(Generic[T]):
    """The results of a race, by variant; sample i comes from repetition i.

    Attributes:
        seconds: per step, in the turn that counts.
        parts: of a step by kind of operation, for variants with `in_parts`.
        unable: the reasons why variants cannot race here.
    """

    seconds: Mapping[T, Sequence[float]]
    parts: Mapping[T, Sequence[Mapping[str, StepPart]]]
    unable: Mapping[T, Reason]


def race(variants: Mapping[T, TrainingVariant], starts: int, traces: Path | None = None) -> Race[T]:
    """Time the variants alternately, one sample of each per repetition.

    Each of the `starts` repetitions has new processes: the same program can be a quarter faster or
    slower in a new process, which turns within one process do not show. The first round, of short
    turns, does not count; `balanced_turns` orders the second. A deadline may end the repetitions
    early. Compiling may take COMPILING_SHARE of the time left, and is left out if that is less than
    LEAST_TO_COMPILE_S. The first repetition's processes are traced into `traces` after their turns.

    Raises:
        LabError: a variant's process ended.
    """
    seconds: dict[T, list[float]] = {name: [] for name in variants}
    parts: dict[T, list[dict[str, StepPart]]] = {n: [] for n, v in variants.items() if v.in_parts}
    unable: dict[T, Reason] = {}
    for start in tqdm(until_deadline(starts), "race", total=starts, leave=False, disable=None):
        with _processes({name: variants[name] for name in seconds}) as processes:
            for name, reason in _warm_up(processes, variants, start == 0).items():
                unable[name] = reason
                del seconds[name]
            for name in balanced_turns(list(seconds), 1, start):
                seconds[name].append(_take(processes[name], variants[name].steps))
            for name in filter(seconds.__contains__, parts):
                processes[name].send(IN_PARTS)
                parts[name].append(processes[name].receive())
            if traces and start == 0:
                for name in filter(lambda name: _can_be_traced(variants[name]), seconds):
                    if time_left_s() < 0:
                        break
                    with suppress(LabError):  # a failing profiler must not fail the race
                        _take(processes[name], traces / _file_of(name))
    return Race(seconds, {name: steps for name, steps in parts.items() if steps}, unable)


def _warm_up(
    processes: Mapping[T, FreshProcess], variants: Mapping[T, TrainingVariant], compiling: bool
) -> dict[T, Reason]:
    """Have each process take a short turn; return the reasons why variants cannot race.

    Making a GPU's context takes each process a second or two, so on a GPU all do it concurrently.
    Variants that must compile come last, one by one, so that the others race in any case.
    """
    names = list(processes)
    compiled = [name for name in names if compiling and variants[name].compile != "none"]
    others = [name for name in names if name not in compiled]
    at_once = [others] if torch.cuda.is_available() else [[name] for name in others]
    share_s = COMPILING_SHARE * time_left_s()
    compile_until_s = time.monotonic() + (share_s if share_s >= LEAST_TO_COMPILE_S else 0)
    unable = {}
    for group in [*at_once, *([name] for name in compiled)]:
        for name in group:
            processes[name].send(min(WARM_UP_STEPS, variants[name].steps))
        for name in group:
            try:
                processes[name].receive(
                    compile_until_s - time.monotonic() if name in compiled else math.inf
                )
            except UnableError as error:
                unable[name] = Reason(FAILED, str(error))
            except TimeoutError:
                processes[name].process.kill()
                unable[name] = Reason(NO_TIME)
    return unable


def _take(process: FreshProcess, wanted: int | Path) -> float:
    """Return the seconds per step of a turn: of `wanted` steps, or a short one traced to a file."""
    process.send(wanted)
    return float(process.receive())


def _can_be_traced(variant: TrainingVariant) -> bool:
    """Return whether the loop is ours, without processes, which torch's GPU profiler forbids."""
    return variant.kind != "lightning" and not variant.num_workers


def _file_of(name: object) -> str:
    """Name a variant's trace: `lenet-our-loop.json` for ("lenet", "our loop")."""
    return "-".join(re.findall(r"\w+", str(name))) + ".json"


@contextmanager
def _processes(variants: Mapping[T, TrainingVariant]) -> Iterator[dict[T, FreshProcess]]:
    """Run a process per variant until the context ends."""
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(fresh_process(f"variant {name!r}", serve, variant))
            for name, variant in variants.items()
        }


def serve(link: Connection, variant: TrainingVariant) -> None:
    """Serve a variant: answer a number of steps with the seconds per step.

    The first request is a number; a later one may be a path for a trace, or IN_PARTS.
    """
    logging.disable(logging.WARNING)
    silence_stdout()
    if variant.kind == "lightning":
        # its package is optional
        from stages.bench_training.measure.lightning_loop import serve_lightning

        serve_lightning(variant, link)
        return
    steps = link.recv()  # until asked, leave the CPU to the others
    try:
        turn = turn_of(variant)
        answer: object = turn(steps)  # a net is compiled when it is first called
    except Exception as error:  # whatever this machine's compilers raise
        if variant.compile == "none":
            raise
        cause = error.__cause__ if isinstance(error, MachineError) else error
        link.send(UnableError(type(cause).__name__))
        return
    while True:
        link.send(answer)
        wanted = link.recv()
        if isinstance(wanted, Path):
            answer = _traced(turn, wanted)
        elif wanted == IN_PARTS and isinstance(turn, TrainingTurns):
            answer = turn.parts(STEPS_IN_PARTS)
        else:
            answer = turn(wanted)


def _traced(turn: Turn, path: Path) -> float:
    """Take a short turn under the profiler; write a trace that Chrome and Perfetto open."""
    with profile(use_device="cuda" if torch.cuda.is_available() else None, use_kineto=True) as seen:
        seconds = turn(TRACED_STEPS)
    seen.export_chrome_trace(str(path))
    return seconds
