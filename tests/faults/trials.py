"""Trials of the whole stack: something is ended or broken, and the same command must go on.

Each trial returns an Outcome; none of them asserts, so that hours of them can be counted.
"""

import contextlib
import json
import random
import re
import signal
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from lab.core.fail_points import VARIABLE
from tests.faults import tiny_project
from tests.faults.processes import LAYERS, WITHIN_S, Command, layer_of, stage

# invoke's own imports, before which nobody can hear a signal: half a second on two busy cores
INVOKE_IMPORTS_S = 0.7
ORPHANED_S = 30.0  # after which nobody is about to notice that it is alone
# of a checkpoint, which holds seconds; of a folder for a while
BY_CHANCE = re.compile(r"[0-9a-f]{16}(?=\.pt$)|(?<=/tmp)[^/]+(?=/)")


@dataclass(frozen=True)
class Outcome:
    """How a trial went.

    Attributes:
        kind: what was tried.
        wrong: what did not go as promised, in words; empty if all did.
        orphans: processes that lived on.
        bit_equal: whether the results are the fault-free ones; None if the trial has none.
    """

    kind: str
    wrong: str = ""
    orphans: tuple[str, ...] = ()
    bit_equal: bool | None = None

    @property
    def survived(self) -> bool:
        """Whether all went as promised."""
        return not self.wrong and not self.orphans and self.bit_equal is not False


class Trials:
    """A project, the results that it has when nothing goes wrong, and a source of chance."""

    def __init__(self, folder: Path, seed: int = 0) -> None:
        """Make the project, fetch its data and run it without a fault."""
        self.folder = tiny_project.make(folder)
        self.rng = random.Random(seed)  # noqa: S311  (moments, not secrets)
        self._must_succeed([*tiny_project.COMMAND, "--stage", "fetch"])
        tiny_project.commit(folder)
        self._must_succeed(tiny_project.COMMAND)
        self.expected = tiny_project.results(folder)

    def _start(self, words: list[str], **environment: str) -> Command:
        return Command(words, self.folder, environment)

    def _must_succeed(self, words: list[str], **environment: str) -> None:
        code, errors = self._start(words, **environment).end(900)
        assert code == 0, errors

    def finish(self) -> Outcome:
        """`invoke repro` until it ends by itself: whole, and with the fault-free results."""
        kind = "went on"
        code, errors = self._start(tiny_project.COMMAND).end(900)
        if code:
            return Outcome(kind, f"{code}: {errors[-3:]}", bit_equal=False)
        found = tiny_project.results(self.folder)
        differ = [name for name, value in self.expected.items() if found.get(name) != value]
        left = [str(path) for path in (self.folder / "reports").rglob("*.part-*")]
        tiny_project.forget_results(self.folder)
        return Outcome(kind, f"left behind: {left}" if left else "", bit_equal=not differ)

    def kill_a_layer(self) -> Outcome:
        """kill -9 of a random process of `invoke repro`, or of all of them, at a random moment."""
        command = self._start(tiny_project.COMMAND)
        wanted = self.rng.choice((*LAYERS, "all"))
        if wanted != "all":
            command.wait_for(lambda: command.layer(wanted), self.rng.uniform(1, 20))
        time.sleep(self.rng.uniform(0, 5))
        living = command.family()
        victims = living if wanted == "all" else command.layer(wanted) or living
        layer = "all layers" if wanted == "all" or not victims else layer_of(victims[0])
        for victim in victims if wanted == "all" else victims[:1]:
            _send(victim, signal.SIGKILL)
        command.end(900)  # it may be none that the others need, such as git
        return self._ended(f"kill -9 of {layer}", command)

    def signal_a_layer(self) -> Outcome:
        """Ctrl-C or SIGTERM to a random layer of `invoke repro`, at a random moment."""
        number = self.rng.choice((signal.SIGINT, signal.SIGTERM))
        # DVC itself is deaf to SIGINT while a stage runs
        layers = ("invoke", "stage") if number == signal.SIGINT else ("invoke", "dvc", "stage")
        layer = self.rng.choice(layers)
        command = self._start(tiny_project.COMMAND)
        command.wait_for(lambda: command.layer(layer), 60)
        least = INVOKE_IMPORTS_S if layer == "invoke" else 0.05
        time.sleep(self.rng.uniform(least, 8))
        return self._signalled(f"{number.name} to {layer}", command, layer, number)

    def signal_at(self, words: list[str], number: signal.Signals, seconds: float) -> Outcome:
        """A signal to a stage so many seconds after its start."""
        command = self._start(words)
        time.sleep(seconds)
        return self._signalled(f"{number.name} to a stage", command, "stage", number)

    def kill_below(
        self, words: list[str], there: str, victim: str, wait_s: float = 0, **environment: str
    ) -> Outcome:
        """kill -9 of a layer, some time after another one is there."""
        command = self._start(words, **environment)
        command.wait_for(lambda: command.layer(there), 60)
        time.sleep(wait_s)
        for process in command.layer(victim)[:1]:
            _send(process, signal.SIGKILL)
        command.end()
        return self._ended(f"kill -9 of {victim}", command)

    def moments(self, words: list[str]) -> Iterator[tuple[str, int]]:
        """Every moment that a command reaches at which it can be killed, in order, counted."""
        notes = self.folder / "moments.txt"
        self._must_succeed(words, **{VARIABLE: f"*=note:{notes}"})
        seen: Counter[str] = Counter()
        for line in notes.read_text().splitlines():
            moment = BY_CHANCE.sub("*", line)
            seen[moment] += 1
            yield moment, seen[moment]
        notes.unlink()

    def kill_at(self, words: list[str], moment: str, count: int) -> Outcome:
        """kill -9 of a command at a moment: then the same command, and the same weights."""
        kind = f"kill -9 at {moment.split()[0]}"
        command = self._start(words, **{VARIABLE: f"{moment}:{count}=kill"})
        code, _ = command.end()
        ended = self._ended(kind, command)
        if code == 0 or not ended.survived:
            return Outcome(kind, ended.wrong or f"{moment} was not reached", ended.orphans)
        code, errors = self._start(words).end()
        return Outcome(kind, f"{moment}, again: {code} {errors[-3:]}" if code else "")

    def kill_a_run_at(self, run: str, moment: str, count: int) -> Outcome:
        """As `kill_at`, of a training run, whose weights must be the fault-free ones."""
        weights = self.folder / "models" / f"{run}.pt"
        weights.unlink(missing_ok=True)
        outcome = self.kill_at(stage("stages.train", run), moment, count)
        whole = weights.is_file()
        equal = whole and tiny_project.hash_of(weights) == self.expected[f"models/{run}.pt"]
        return Outcome(outcome.kind, outcome.wrong, outcome.orphans, equal)

    def _signalled(
        self, kind: str, command: Command, layer: str, number: signal.Signals
    ) -> Outcome:
        there = command.layer(layer)[:1]
        for process in there:
            _send(process, number)
        told = time.monotonic()
        code, errors = command.end(120 if there else 900)
        seconds = time.monotonic() - told if there else 0
        ended = self._ended(kind, command)
        wrong = ended.wrong
        if code not in (0, 128 + number):  # 0: it was over before
            wrong = f"ended with {code}: {errors[-3:]}"
        elif seconds > WITHIN_S:
            wrong = f"took {seconds:.0f} s"
        elif any("Traceback" in line for line in errors):
            wrong = f"a traceback: {errors[-3:]}"
        return Outcome(kind, wrong, ended.orphans)

    def _ended(self, kind: str, command: Command) -> Outcome:
        """What a command that was ended has left: processes, half files.

        Whoever is killed tells nobody: a stage that is about to start then has to start first.
        """
        orphans = tuple(command.orphans(ORPHANED_S))
        if command.hung:
            return Outcome(kind, command.hung, orphans)
        for path in (self.folder / "reports").rglob("*.json"):
            try:
                json.loads(path.read_bytes())
            except ValueError:
                return Outcome(kind, f"half a file: {path}", orphans)
        return Outcome(kind, "", orphans)


def _send(process: psutil.Process, number: signal.Signals) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):
        process.send_signal(number)
