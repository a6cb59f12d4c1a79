"""Arms that train, each in a process of its own, timed in turn.

So no arm's allocator, threads or loaders help or hinder another's.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict

from lab.core.errors import LabError
from lab.parallel import rank
from lab.timing.bench import turns
from lab.training import arm_process
from lab.training.arm_process import TrainingArm, Turn

END_S = 30  # for a process to end when its input does


def race(
    arms: Mapping[str, TrainingArm], rounds: int, starts: int = 1
) -> dict[str, tuple[float, ...]]:
    """Seconds per step of each arm, one sample per round, after turns that do not count.

    The rounds are divided among `starts`, for each of which the processes start anew: one and the
    same program can be a quarter faster or slower from one start to the next (by how its memory
    happens to lie), which the turns of one process do not show.

    Raises:
        LabError: an arm's process ended.
    """
    seconds: dict[str, list[float]] = {name: [] for name in arms}
    for start in range(starts):
        with ExitStack() as running, ExitStack() as inputs:  # which are closed first, all of them
            take = {
                name: running.enter_context(_process(name, arm, inputs))
                for name, arm in arms.items()
            }
            for turn in take.values():
                turn()  # its start, which may still go on, and its warm-up
            for name in turns(take, len(range(start, rounds, starts))):
                seconds[name].append(take[name]())
    return {name: tuple(samples) for name, samples in seconds.items()}


@contextmanager
def _process(name: str, arm: TrainingArm, inputs: ExitStack) -> Iterator[Turn]:
    """An arm's process, as a function that has it take a turn; it ends when `inputs` are closed."""
    command = [sys.executable, *rank.command(arm_process.__name__, json.dumps(asdict(arm)))]
    environment = os.environ | {rank.LAUNCHER_VARIABLE: str(os.getpid())}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        requests, answers = process.stdin, process.stdout
        assert requests is not None  # noqa: S101
        assert answers is not None  # noqa: S101

        def turn() -> float:
            try:
                requests.write("go\n")
                requests.flush()
                return float(answers.readline())
            except (OSError, ValueError):
                raise LabError(
                    f"arm {name!r}: its process ended before the race did; its own words are above"
                ) from None

        def close() -> None:
            with suppress(OSError):
                requests.close()

        inputs.callback(close)
        try:
            yield turn
        finally:
            try:
                process.wait(END_S)
            except subprocess.TimeoutExpired:
                process.kill()
