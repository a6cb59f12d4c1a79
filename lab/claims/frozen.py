"""Which rule a verdict comes from: a claim's whole entry, and the standard that it is judged by.

Rules are frozen: frozen.yaml has each claim's day and digest. An entry that changes, in either
language, gets a new day (`since`), or `invoke freeze` refuses it; the standard has a day as well.
How a finding is derived from rows is not frozen: that is public history.
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
    """Return the days and digests of the standard and of claims.

    A rule may change twice on a day: no result of that day tests it.

    Raises:
        ParamsError: a rule is new or changed, or its day is another, and that day is not today.
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
        ParamsError: as `freeze`; or a claim is still to be written.
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
