"""Which rule a verdict comes from: a claim's whole entry, and the standard that it is judged by.

Rules are frozen: frozen.yaml has each claim's day and digest. An entry that changes, in either
language, gets a new day (`since`), or `invoke freeze` refuses it; the standard has a day as well.
How a finding is derived from rows is not frozen: that is public history.
"""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

from lab.claims import rules
from lab.claims.claim import Claim
from lab.core.errors import ParamsError
from lab.core.params import read_yaml
from lab.results import stats

FROZEN = Path(__file__).with_name("frozen.yaml")
STANDARD = "standard"  # its line in frozen.yaml


def digest(claim: Claim) -> str:
    """A claim's entry in eight characters: others if anything of it changes but its day."""
    return _digest(claim.model_dump_json(exclude={"since"}))


def standard() -> str:
    """What words ask for, and what an interval must hold, in eight characters."""
    decisive = (rules.__doc__, stats.CONFIDENCE, stats.FEWEST, stats.SMALLEST_EFFECT)
    return _digest(repr(decisive))


def _digest(text: str) -> str:
    return "r" + hashlib.sha256(text.encode()).hexdigest()[:7]  # in no table a number


def frozen() -> dict[str, list[str]]:
    """Each claim's day and digest, by id, and the standard's.

    Raises:
        ParamsError: the file is damaged.
    """
    return {id_: found.split() for id_, found in read_yaml(FROZEN).items()}


def freeze(
    claims: Sequence[Claim], before: Mapping[str, Sequence[str]], today: date
) -> dict[str, list[str]]:
    """The days and digests of the standard and of claims.

    A rule may change twice on a day: no result of that day tests it.

    Raises:
        ParamsError: a rule is new or changed, or its day is another, and that day is not today.
    """
    found = {
        STANDARD: _dated("lab/claims/rules.py", STANDARD, rules.SINCE, standard(), before, today)
    }
    for claim in claims:
        where = f"stages/{claim.stage}/page/claims.yaml: claim {claim.id}"
        found[claim.id] = _dated(where, claim.id, claim.since, digest(claim), before, today)
    return found


def _dated(
    where: str,
    name: str,
    since: date,
    digest: str,
    before: Mapping[str, Sequence[str]],
    today: date,
) -> list[str]:
    """The day and digest of a line, unless it changed and its day is not today."""
    now = [since.isoformat(), digest]
    if now != before.get(name) and since != today:
        what = (
            "the day since which it is so is still to come"
            if since > today
            else "it or its day changed"
        )
        raise ParamsError(f"{where}: {what}; set its `since` to {today}")
    return now
