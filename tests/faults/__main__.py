"""Hours of faults: `invoke faults`, or `python -m tests.faults --minutes 120`.

A tiny copy of the project is killed at every moment at which it writes, computes or meets others;
beside it another one at random moments in random layers, or stopped by signals. In the first third
of the time the readers of all files are given damaged ones, too. First of all, defects are planted
in a copy: what does not see them proves nothing. Exit code 1 if anything did not go as promised.
"""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty, Queue

from tqdm import tqdm

from lab.tools.compare import aligned
from tests.faults.planted import DEFECTS, undetected
from tests.faults.processes import stage
from tests.faults.tiny_project import RUNS
from tests.faults.trials import Outcome, Trials

OTHER_STAGES = ("probe", "fetch", "landscapes", "replicas", "bench_parallel", "claims", "report")
WORK_SHARE = 0.1  # of the steps and collectives: there are hundreds
KILL_SHARE = 0.8  # of the random trials; the others are signals
Way = tuple[Trials, Iterator[Outcome]]
Found = tuple[Outcome, float]  # what became of a trial, and its seconds
HEADER = ("what", "tried", "survived", "equal bits", "orphans", "seconds")


def at_every_moment(trials: Trials) -> Iterator[Outcome]:
    """Each write, fsync, rename and deletion of each kind of run and stage, fatal once.

    Of the steps and collectives a random part.
    """
    for run in RUNS:
        for moment, count in list(trials.moments(stage("stages.train", run))):
            is_work = moment.startswith(("step", "collective"))
            if not is_work or trials.rng.random() < WORK_SHARE:
                yield trials.kill_a_run_at(run, moment, count)
    for name in OTHER_STAGES:
        words = stage(f"stages.{name}")
        for moment, count in list(trials.moments(words)):
            yield trials.kill_at(words, moment, count)


def at_random(trials: Trials) -> Iterator[Outcome]:
    """Kills and signals at random, some before each time that the command is let through."""
    while True:
        for _ in range(trials.rng.randint(4, 12)):
            kill = trials.rng.random() < KILL_SHARE
            yield trials.kill_a_layer() if kill else trials.signal_a_layer()
        yield trials.finish()


def at_every_moment_first(trials: Trials) -> Iterator[Outcome]:
    """All trials, without an end."""
    yield from at_every_moment(trials)
    yield trials.finish()
    yield from at_random(trials)


def side_by_side(ways: Sequence[Way], until: float) -> Iterator[Found]:
    """What each way finds in a copy of its own, in a thread of its own, until it is time."""
    found: Queue[Found] = Queue()

    def take(trials: Trials, outcomes: Iterator[Outcome]) -> None:
        began = time.monotonic()
        while time.monotonic() < until:
            try:
                outcome = next(outcomes)
            except Exception as error:  # else nobody would hear of it for hours
                found.put((Outcome("a trial of its own", repr(error)), time.monotonic() - began))
                return
            found.put((outcome, time.monotonic() - began))
            began = time.monotonic()
        found.put((trials.finish(), time.monotonic() - began))

    with ThreadPoolExecutor(len(ways)) as pool:
        running = [pool.submit(take, trials, outcomes) for trials, outcomes in ways]
        while not (found.empty() and all(each.done() for each in running)):
            with contextlib.suppress(Empty):
                yield found.get(timeout=1)


def table(found: Sequence[Found]) -> list[tuple[str, ...]]:
    """A row for each kind of trial, and the sum of all."""
    rows = [HEADER]
    for kind in [*sorted({outcome.kind for outcome, _ in found}), ""]:
        some = [(outcome, seconds) for outcome, seconds in found if kind in ("", outcome.kind)]
        judged = [outcome.bit_equal for outcome, _ in some if outcome.bit_equal is not None]
        rows.append(
            (
                kind or "all",
                str(len(some)),
                str(sum(outcome.survived for outcome, _ in some)),
                f"{sum(judged)} of {len(judged)}" if judged else "",
                str(sum(len(outcome.orphans) for outcome, _ in some)),
                f"{sum(seconds for _, seconds in some):.0f}",
            )
        )
    return rows


def main() -> int:
    """Try faults for a while and print what became of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    # Ctrl-C is heard by what is started, which a shell has processes in the background ignore
    signal.signal(signal.SIGINT, signal.default_int_handler)
    until = time.monotonic() + 60 * arguments.minutes
    fuzz = [sys.executable, "-m", "tests.faults.fuzz", "--seed", str(arguments.seed)]
    found: list[Found] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(
            [*fuzz, "--seconds", str(20 * arguments.minutes)],
            env=os.environ | {"TQDM_DISABLE": "1"},  # one bar is enough
        ) as inputs,
        tqdm(unit=" trials", smoothing=0) as bar,
    ):
        first, second = (Trials(Path(folder) / str(i), arguments.seed + i) for i in (0, 1))
        unseen = list(undetected(first))
        for name in unseen:
            tqdm.write(f"NOT SEEN: {name}, which was planted")
        for outcome, seconds in side_by_side(
            [(first, at_random(first)), (second, at_every_moment_first(second))], until
        ):
            found.append((outcome, seconds))
            bar.update()
            bar.set_description(outcome.kind)
            if not outcome.survived:
                tqdm.write(str(outcome))
        unclear = inputs.wait()
    print(f"{len(DEFECTS) - len(unseen)} of {len(DEFECTS)} planted defects were seen")
    print("\n".join(aligned(table(found))))
    return int(bool(unseen or unclear or not all(outcome.survived for outcome, _ in found)))


if __name__ == "__main__":
    sys.exit(main())
