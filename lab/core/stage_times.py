"""How long stages take: kept when one has ended, told before the next run and during it.

A stage's seconds depend on its params: they are kept by a digest of these, on this machine in
`.lab/stage_seconds.json`, of the committed run in `reports/stage_seconds.json`. `invoke repro`
leaves a plan of the stages that it will run (lab/tools/forecast.py); without one, as under a plain
`dvc repro`, a stage knows only of itself.
"""

import hashlib
import json
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from lab.core.errors import LabError
from lab.core.files import REPORTS, read_json, write_json

COMMITTED, OWN = REPORTS / "stage_seconds.json", Path(".lab") / "stage_seconds.json"
PLAN = "LAB_PLAN"  # the plan's file, if there is one
SURE_S = 60.0  # of a plan, before what was slower or faster than planned counts as much as the plan


@dataclass(frozen=True)
class Times:
    """Seconds of each stage by the digest of its params; and how fast the machine was."""

    seconds: dict[str, dict[str, float]] = field(default_factory=dict)
    speed: dict[str, float] = field(default_factory=dict)

    def of(self, stage: str, digest: str) -> float | None:
        """The seconds of a stage, if it was timed with such params."""
        return self.seconds.get(stage, {}).get(digest)


@dataclass(frozen=True)
class Plan:
    """The stages of a run and the seconds that they are to take, None where that is not known.

    Attributes:
        began: by the monotonic clock.
        seconds: of each stage that is to run.
        finished: those that have.
        committed: digests of all stages whose seconds are to be kept in the end beside the results.
        speed: of the machine when the run began.
    """

    began: float
    seconds: dict[str, float | None]
    finished: tuple[str, ...] = ()
    committed: dict[str, str] = field(default_factory=dict)
    speed: dict[str, float] = field(default_factory=dict)

    @property
    def left(self) -> list[str]:
        """The stages that are still to run."""
        return [stage for stage in self.seconds if stage not in self.finished]

    def seconds_left(self, now: float) -> float:
        """What is left of the plan, at the pace of what is finished."""
        done = sum(self.seconds.get(stage) or 0.0 for stage in self.finished)
        pace = (now - self.began + SURE_S) / (done + SURE_S)
        return pace * sum(self.seconds[stage] or 0.0 for stage in self.left)

    def place_of(self, stage: str) -> str:
        """A stage's place among all that run, as `7 of 26`."""
        every = {*self.seconds, *self.finished, stage}
        return f"{len(self.finished) + 1} of {len(every)}"


def announce(stage: str) -> None:
    """Say how long a stage usually takes, and what a plan says of the whole run."""
    plan, seconds = _plan(), usual_seconds(stage)
    if plan and plan.seconds.get(stage) is not None:
        seconds = plan.seconds[stage]
    said = f"{stage}: {'not timed before' if seconds is None else f'usually {in_words(seconds)}'}"
    if plan and len(plan.seconds) > 1:
        now = time.monotonic()
        said = f"{plan.place_of(stage)} · {said} · {in_words(now - plan.began)} gone"
        if left := plan.seconds_left(now):
            least = "at least" if None in (plan.seconds[each] for each in plan.left) else "about"
            said += f", {least} {in_words(left)} left"
    print(f"# {said}", file=sys.stderr, flush=True)


def remember(stage: str, seconds: float) -> None:
    """Keep how long a stage took here; after the last one of a plan, perhaps for others, too."""
    own = read_times(OWN)
    by_digest = own.seconds.get(stage, {}) | {digest(stage, _params()): round(seconds, 1)}
    own = replace(own, seconds=own.seconds | {stage: by_digest})
    write_json(OWN, asdict(own))
    plan = _plan()
    if not plan:
        return
    plan = replace(plan, finished=(*plan.finished, stage))
    write_json(Path(os.environ[PLAN]), asdict(plan))
    found = {each: own.of(each, key) for each, key in plan.committed.items()}
    if found and not plan.left and None not in found.values():
        seconds_of = {s: {plan.committed[s]: t} for s, t in found.items() if t is not None}
        write_json(COMMITTED, asdict(Times(seconds_of, plan.speed)))


def usual_seconds(stage: str) -> float | None:
    """The seconds of a stage with its present params: here, else in the committed run."""
    key = digest(stage, _params())
    found = (read_times(path).of(stage, key) for path in (OWN, COMMITTED))
    return next((seconds for seconds in found if seconds is not None), None)


def digest(stage: str, params: Mapping[str, Any]) -> str:
    """Of the params that decide on a stage's time: its section and `bench`; of a run, the run's."""
    name, _, run = stage.partition("@")
    section = params.get(name)
    if run and isinstance(section, dict):
        section = [section.get("defaults"), (section.get("runs") or {}).get(run)]
    parts = json.dumps([section, params.get("bench")], sort_keys=True, default=str)
    return hashlib.sha256(parts.encode()).hexdigest()[:8]


def read_times(path: Path) -> Times:
    """The times in a file; one that is damaged, of another form or not there holds none."""
    try:
        return TypeAdapter(Times).validate_python(read_json(path))
    except (LabError, ValidationError):
        return Times()


def in_words(seconds: float) -> str:
    """A time as a person says it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _plan() -> Plan | None:
    """The plan that `invoke repro` left for this run, if any."""
    if PLAN not in os.environ:
        return None
    try:
        return TypeAdapter(Plan).validate_python(read_json(Path(os.environ[PLAN])))
    except (LabError, ValidationError):
        return None


def _params() -> dict[str, Any]:
    """What params.yaml holds; nothing if it cannot be read, which the stage itself will say."""
    from lab.core.params import PARAMS_FILE, read_yaml  # which imports the module that imports this

    try:
        return read_yaml(PARAMS_FILE)
    except LabError:
        return {}
