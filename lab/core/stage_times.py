"""How long stages take: kept when one has ended, told before the next run.

A stage's seconds are kept in `.lab/stage_seconds.json` of this machine; before it has run here, its
seconds in the committed run count, `reports/stage_seconds.json`.
"""

import sys
from pathlib import Path

from lab.core.errors import LabError
from lab.core.files import REPORTS, read_json, write_json

COMMITTED, OWN = REPORTS / "stage_seconds.json", Path(".lab") / "stage_seconds.json"


def announce(stage: str) -> None:
    """Say how long a stage usually takes."""
    seconds = known_seconds().get(stage)
    print(
        f"# {stage}: usually {in_words(seconds)}" if seconds else f"# {stage}: not timed before",
        file=sys.stderr,
        flush=True,
    )


def remember(stage: str, seconds: float) -> None:
    """Keep how long a stage took here."""
    write_json(OWN, _kept(OWN) | {stage: round(seconds, 1)})


def known_seconds() -> dict[str, float]:
    """The seconds of each stage here; where it never ran, those of the committed run."""
    return _kept(COMMITTED) | _kept(OWN)


def in_words(seconds: float) -> str:
    """A time as a person says it."""
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


def _kept(path: Path) -> dict[str, float]:
    """The seconds in a file; one that is damaged or not there holds none."""
    try:
        kept = read_json(path)
    except LabError:
        return {}
    return {stage: found for stage, found in kept.items() if isinstance(found, int | float)}
