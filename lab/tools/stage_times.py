"""How long each stage takes: heard from DVC's own words, told ahead of the next run.

A stage's seconds are kept in `.lab/stage_seconds.json` of this machine; before it has run here, its
seconds in the committed run count, `reports/stage_seconds.json`.
"""

import re
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from invoke.watchers import StreamWatcher

from lab.core.errors import LabError
from lab.core.files import REPORTS, read_json, write_json

COMMITTED, OWN = REPORTS / "stage_seconds.json", Path(".lab") / "stage_seconds.json"
LONGEST_S = 1e9
RUNNING = re.compile(r"^Running stage '([^']+)':")
SKIPPED = re.compile(r"^Stage '([^']+)' (?:didn't change|is cached)")


def say(line: str) -> None:
    """Write a line for a person, beside what the stages say."""
    print(line, file=sys.stderr, flush=True)


class Listener(StreamWatcher):
    """Passes on each whole line that a command says.

    invoke has one for each thread that reads a stream: what it hears it must leave elsewhere.
    """

    def __init__(self, hear: Callable[[str], object]) -> None:
        """Pass lines on to `hear`."""
        super().__init__()
        self._hear, self._heard = hear, 0

    def submit(self, stream: str) -> Iterable[str]:
        """Hear all that was said so far; there is nothing to answer."""
        whole_lines = stream.rfind("\n") + 1
        for line in stream[self._heard : whole_lines].splitlines():
            self._hear(line)
        self._heard = max(self._heard, whole_lines)
        return ()


class StageTimes:
    """From the lines of `dvc repro`: says what is ahead, and remembers what each stage took."""

    def __init__(
        self,
        known: dict[str, float],
        tell: Callable[[str], object] = say,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Expect the stages that are `known`, by their seconds."""
        self.taken: dict[str, float] = {}
        self._known, self._ahead = known, dict(known)
        self._tell, self._clock = tell, clock
        self._current = ""
        self._since = 0.0

    def hear(self, line: str) -> None:
        """Hear what DVC says."""
        if found := SKIPPED.match(line):
            self._ahead.pop(found[1], None)
        elif found := RUNNING.match(line):
            self.end_stage()
            self._current, self._since = found[1], self._clock()
            self._ahead.pop(found[1], None)
            self._announce(found[1])

    def end_stage(self) -> None:
        """The stage that runs has ended well."""
        if self._current:
            self.taken[self._current] = round(self._clock() - self._since, 1)
        self._current = ""

    def _announce(self, stage: str) -> None:
        after = in_words(sum(self._ahead.values()))
        if stage in self._known:
            self._tell(f"# {stage}: about {in_words(self._known[stage])}, then at most {after}")
        else:
            self._tell(f"# {stage}: not timed before, then at most {after}")


def in_words(seconds: float) -> str:
    """A time as a person says it."""
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


def known_seconds() -> dict[str, float]:
    """The seconds of each stage in the committed run, or here where it ran."""
    found: dict[str, float] = {}
    for path in (COMMITTED, OWN):
        found |= _kept(path)
    return found


def remember(taken: dict[str, float]) -> None:
    """Keep what stages took here."""
    if taken:
        write_json(OWN, _kept(OWN) | taken)


def _kept(path: Path) -> dict[str, float]:
    """The seconds in a file; what is none in it does not count, nor does a damaged file."""
    try:
        kept = read_json(path) if path.is_file() else {}
    except LabError:
        return {}
    return {stage: found for stage, found in kept.items() if _is_time(found)}


def _is_time(found: object) -> bool:
    return isinstance(found, int | float) and 0 <= found < LONGEST_S
