"""Ways to train, each in a process of its own, timed in turn.

So no arm's allocator, threads or loaders help or hinder another's.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from typing import TypeVar

from tqdm import tqdm

from lab.machine.fresh_process import fresh_process
from lab.timing.bench import turns
from stages.bench_training.arm_turns import TrainingArm, turn_of

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
    with ExitStack() as stack:
        processes = {
            name: stack.enter_context(fresh_process(f"arm {name!r}", serve, arm))
            for name, arm in arms.items()
        }

        def take(name: T, steps: int) -> float:
            processes[name].send(steps)
            return float(processes[name].receive())

        yield take


def serve(link: Connection, arm: TrainingArm) -> None:
    """Be an arm's process: answer numbers of steps with the seconds that one of them took."""
    logging.disable(logging.WARNING)
    if arm.kind == "lightning":
        from stages.bench_training.lightning_arm import serve_lightning  # its package is optional

        serve_lightning(arm, link)
        return
    steps = link.recv()  # before it is asked it leaves the processor to the others
    turn = turn_of(arm)
    while True:
        link.send(turn(steps))
        steps = link.recv()
