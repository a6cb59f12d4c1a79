"""Durations of stages: recorded when a stage ends, announced before its next run.

A stage's duration depends on its params, so it is stored by a digest of these: this machine's in
`.lab/stage_seconds.json`, the committed run's in `reports/stage_seconds.json`.
"""

import hashlib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from lab.core.errors import LabError
from lab.core.files import REPORTS, read_json, write_json
from lab.core.params import PARAMS_FILE, read_yaml

COMMITTED, OWN = REPORTS / "stage_seconds.json", Path(".lab") / "stage_seconds.json"
PLAN = "LAB_PLAN"  # in the environment: the stages that `invoke` is to run, in DVC's order
SURE_S = 60.0  # seconds of stages timed here that weigh as much as the machine's speed


@dataclass(frozen=True)
class Times:
    """The durations of stages on one machine.

    Attributes:
        seconds: seconds of each stage, by the digest of its params.
        work_s: seconds of the fixed work in lab/machine/speed.py; None if it was not timed.
    """

    seconds: dict[str, dict[str, float]] = field(default_factory=dict)
    work_s: float | None = None

    def of(self, stage: str, digest: str) -> float | None:
        """Return the seconds of a stage, or None if it was not timed with these params."""
        return self.seconds.get(stage, {}).get(digest)

    def times_as_long_as(self, other: "Times") -> float:
        """Return how many times as long stages take here as on the other machine.

        The estimate starts from the fixed work; stages timed on both machines gain weight.
        """
        here = there = SURE_S
        if self.work_s and other.work_s:
            here *= self.work_s / other.work_s
        for stage, by_digest in other.seconds.items():
            for digest, seconds in by_digest.items():
                if (own := self.of(stage, digest)) is not None:
                    here += own
                    there += seconds
        return here / there


def expected_seconds(stage: str, params: Mapping[str, Any]) -> float | None:
    """Return the seconds that a stage takes here; None if it was never timed with these params."""
    own, committed, key = read_times(OWN), read_times(COMMITTED), digest(stage, params)
    if (seconds := own.of(stage, key)) is not None:
        return seconds
    seconds = committed.of(stage, key)
    return None if seconds is None else seconds * own.times_as_long_as(committed)


def announce(stage: str) -> None:
    """Print how long a stage will take, and its place in a run of several."""
    params, plan = _params(), os.environ.get(PLAN, "").split()
    line = stage + in_words([expected_seconds(stage, params)])
    if stage in plan:
        at = plan.index(stage)
        left = in_words([expected_seconds(each, params) for each in plan[at:]])
        line = f"{at + 1} of {len(plan)}{left and f'{left} left'}: {line}"
    print(f"# {line}", file=sys.stderr, flush=True)


def remember(stage: str, seconds: float) -> None:
    """Record how long a stage took here."""
    own = read_times(OWN)
    by_digest = own.seconds.get(stage, {}) | {digest(stage, _params()): round(seconds, 1)}
    write_times(OWN, replace(own, seconds=own.seconds | {stage: by_digest}))


def digest(stage: str, params: Mapping[str, Any]) -> str:
    """Hash the params that affect a stage's duration: its section, or the run's, and `bench`."""
    name, _, run = stage.partition("@")
    section = params.get(name)
    if run and isinstance(section, dict):
        section = [section.get("defaults"), (section.get("runs") or {}).get(run)]
    parts = json.dumps([section, params.get("bench")], sort_keys=True, default=str)
    return hashlib.sha256(parts.encode()).hexdigest()[:8]


def read_times(path: Path) -> Times:
    """Return the times in a file; none if it is missing, damaged or of a different form."""
    try:
        return TypeAdapter(Times).validate_python(read_json(path))
    except (LabError, ValidationError):
        return Times()


def write_times(path: Path, times: Times) -> None:
    write_json(path, asdict(times))


def in_words(seconds: Sequence[float | None]) -> str:
    """Return a comma and how long stages take in all; nothing if none was timed."""
    timed = [each for each in seconds if each is not None]
    if not timed:
        return ""
    total, more = sum(timed), "" if len(timed) == len(seconds) else " or more"
    if total < 90:
        return f", about {max(1, total):.0f} s{more}"
    found = f"{total / 60:.0f} min" if total < 7200 else f"{total / 3600:.1f} h"
    return f", about {found}{more}"


def _params() -> dict[str, Any]:
    """Return the contents of params.yaml; empty if unreadable, which the stage itself reports."""
    try:
        return read_yaml(PARAMS_FILE)
    except LabError:
        return {}
