"""Hours of faults: `invoke faults`, or `python -m tests.faults --minutes 120`.

A tiny copy of the project is killed at every moment at which it writes, computes or meets others,
then at random moments in random layers, and stopped by signals; beside that the readers of all
files are given damaged ones. First, defects are planted in the copy: what does not see them proves
nothing. Exit code 1 if anything did not go as promised.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tqdm import tqdm

from lab.tools.compare import aligned
from tests.faults.planted import DEFECTS, undetected
from tests.faults.processes import stage
from tests.faults.tiny_project import RUNS
from tests.faults.trials import Outcome, Trials

OTHER_STAGES = ("probe", "fetch", "landscapes", "replicas", "bench_parallel", "claims", "report")
WORK_SHARE = 0.1  # of the steps and collectives: there are hundreds
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
    """Kills and signals at random, a few before each time that the command is let through."""
    while True:
        for _ in range(trials.rng.randint(1, 6)):
            kill = trials.rng.random() < 0.7
            yield trials.kill_a_layer() if kill else trials.signal_a_layer()
        yield trials.finish()


def outcomes(trials: Trials) -> Iterator[Outcome]:
    """All trials, without an end."""
    yield from at_every_moment(trials)
    yield trials.finish()
    yield from at_random(trials)


def table(found: list[tuple[Outcome, float]]) -> list[tuple[str, ...]]:
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
    until = time.monotonic() + 60 * arguments.minutes
    fuzz = [sys.executable, "-m", "tests.faults.fuzz", "--seed", str(arguments.seed)]
    found: list[tuple[Outcome, float]] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(  # which has a bar of its own
            [*fuzz, "--seconds", str(55 * arguments.minutes)], stderr=subprocess.DEVNULL
        ) as inputs,
        tqdm(unit=" trials", smoothing=0) as bar,
    ):
        trials = Trials(Path(folder) / "project", arguments.seed)
        unseen = list(undetected(trials))
        for name in unseen:
            tqdm.write(f"NOT SEEN: {name}, which was planted")
        began = time.monotonic()
        for outcome in outcomes(trials):
            now = time.monotonic()
            found.append((outcome, now - began))
            began = now
            bar.update()
            bar.set_description(outcome.kind)
            if not outcome.survived:
                tqdm.write(str(outcome))
            if now > until:
                break
        found.append((trials.finish(), time.monotonic() - began))
        unclear = inputs.wait()
    print(f"{len(DEFECTS) - len(unseen)} of {len(DEFECTS)} planted defects were seen")
    print("\n".join(aligned(table(found))))
    return int(bool(unseen or unclear or not all(outcome.survived for outcome, _ in found)))


if __name__ == "__main__":
    sys.exit(main())
