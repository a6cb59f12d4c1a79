"""Freeze the rules of verdicts: a claim's whole entry, and the standard that judges it.

frozen.yaml has each claim's day and digest. An entry that changes, in either language, needs a new
day (`since`), or `invoke freeze` refuses it; the standard also has a day. How findings are derived
from rows is not frozen: that is public history.
"""

import hashlib
import io
import logging
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

from ruamel.yaml import YAML

from lab.claims import rules
from lab.claims.claim import Claim
from lab.claims.ledger import claims_file, ledger
from lab.core.errors import ParamsError
from lab.core.files import write_atomically
from lab.core.params import read_yaml
from lab.results import stats

FROZEN = Path(__file__).with_name("frozen.yaml")
STANDARD = "standard"  # its line in frozen.yaml

log = logging.getLogger(__name__)


def digest(claim: Claim) -> str:
    """Return an eight-character digest of a claim's entry, without its day."""
    return _digest(claim.model_dump_json(exclude={"since"}))


def standard() -> str:
    """Return an eight-character digest of what words ask for and what an interval must hold."""
    decisive = (rules.__doc__, stats.CONFIDENCE, stats.FEWEST, stats.SMALLEST_EFFECT)
    return _digest(repr(decisive))


def _digest(text: str) -> str:
    return "r" + hashlib.sha256(text.encode()).hexdigest()[:7]  # never read as a number


def frozen() -> dict[str, list[str]]:
    """Return each claim's day and digest by id, and the standard's.

    Raises:
        ParamsError: the file is damaged.
    """
    return {id_: found.split() for id_, found in read_yaml(FROZEN).items()}


def freeze(
    claims: Sequence[Claim], before: Mapping[str, Sequence[str]], today: date
) -> dict[str, list[str]]:
    """Return the days and digests of the standard and of claims.

    A rule may change twice on one day: no result of that day tests it.

    Raises:
        ParamsError: a rule or its day is new or changed, and its day is not today.
    """
    rule_of = {STANDARD: ("lab/claims/rules.py", rules.SINCE, standard())}
    for claim in claims:
        where = f"stages/{claim.stage}/page/claims.yaml: claim {claim.id}"
        rule_of[claim.id] = where, claim.since, digest(claim)
    found = {}
    for name, (where, since, own_digest) in rule_of.items():
        found[name] = [since.isoformat(), own_digest]
        if found[name] != before.get(name) and since != today:
            raise ParamsError(f"{where}: it or its day changed; set its `since` to {today}")
    return found


def freeze_rules() -> None:
    """Write each claim's day and digest into frozen.yaml.

    Raises:
        ParamsError: as in `freeze`, or a claim still has a TODO.
    """
    for stage in sorted({claim.stage for claim in ledger()}):
        if "TODO" in claims_file(stage).read_text(encoding="utf-8"):
            raise ParamsError(
                f"stages/{stage}/page/claims.yaml: still has a TODO of `invoke new`; write the"
                " claim in your own words, in both languages, then freeze it"
            )
    before = frozen()
    after = freeze(ledger(), before, date.today())
    text = io.StringIO()
    YAML().dump({name: " ".join(found) for name, found in sorted(after.items())}, text)
    write_atomically(FROZEN, text.getvalue().encode())
    changed = [name for name, found in after.items() if before.get(name) != found]
    log.info("%s", ", ".join(changed) or "no rule changed")
