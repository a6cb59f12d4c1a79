"""Ways to train, each in a process of its own, timed in turn.

So no arm's allocator, threads or loaders help or hinder another's.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import TypeVar

from tqdm import tqdm

from lab.core.errors import LabError
from lab.machine import child
from lab.timing.bench import turns
from stages.bench_training import arm_process
from stages.bench_training.arm_turns import TrainingArm

END_S = 30  # for the processes to end when their input does
WARM_UP_STEPS = 2  # of a turn that does not count
T = TypeVar("T")


def race(arms: Mapping[T, TrainingArm], starts: int) -> dict[T, tuple[float, ...]]:
    """Seconds per step of each arm: sample i is from the turn that it took in start i.

    For each start all processes are new: one and the same program can be a quarter faster or slower
    from one start to the next, which the turns of one process do not show. A start's first round of
    short turns does not count; the orders of its second one are those of `turns`.

    Raises:
        LabError: an arm's process ended.
    """
    seconds: dict[T, list[float]] = {name: [] for name in arms}
    for start in tqdm(range(starts), "race", leave=False, disable=None):
        with _processes(arms) as take:
            for name, arm in arms.items():
                take(name, min(WARM_UP_STEPS, arm.steps))
            for name in turns(list(arms), 1, start):
                seconds[name].append(take(name, arms[name].steps))
    return {name: tuple(samples) for name, samples in seconds.items()}


def by_hand(arm: TrainingArm, rounds: int) -> tuple[float, ...]:
    """Seconds per step of an arm's first turns, in a process that is alone and nothing warmed up.

    So a reader times it who starts a program and looks at the clock.

    Raises:
        LabError: the arm's process ended.
    """
    with _processes({"alone": arm}) as take:
        return tuple(take("alone", arm.steps) for _ in range(rounds))


@contextmanager
def _processes(arms: Mapping[T, TrainingArm]) -> Iterator[Callable[[T, int], float]]:
    """The arms' processes, as a function that has one of them take a turn of so many steps."""
    numbers = {name: number for number, name in enumerate(arms)}
    as_json = json.dumps([asdict(arm) for arm in arms.values()])
    command = [sys.executable, *child.command(arm_process.__name__, as_json)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=child.environment()
    ) as process:
        requests, answers = process.stdin, process.stdout
        assert requests is not None  # noqa: S101
        assert answers is not None  # noqa: S101

        def take(name: T, steps: int) -> float:
            try:
                requests.write(f"{numbers[name]} {steps}\n")
                requests.flush()
                return float(answers.readline())
            except (OSError, ValueError):
                raise LabError(
                    f"arm {name!r}: its process ended before the race did; its own words are above"
                ) from None

        try:
            yield take
        finally:
            with suppress(OSError):
                requests.close()
            try:
                process.wait(END_S)
            except subprocess.TimeoutExpired:
                process.kill()
