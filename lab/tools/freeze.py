"""Freeze the rules of claims: `invoke freeze`.

It writes each claim's day and digest into lab/claims/frozen.yaml, and refuses a rule that changed
without a new day, and words that `invoke new` wrote.
"""

import io
import logging
from datetime import date

from ruamel.yaml import YAML

from lab.claims.frozen import FROZEN, freeze, frozen
from lab.claims.ledger import claims_file, ledger
from lab.core.errors import ParamsError
from lab.core.files import write_atomically

log = logging.getLogger(__name__)


def freeze_rules() -> None:
    for stage in sorted({claim.stage for claim in ledger()}):
        if "TODO" in claims_file(stage).read_text(encoding="utf-8"):
            raise ParamsError(
                f"stages/{stage}/page/claims.yaml: still has a TODO of `invoke new`; write the"
                " claim in your own words, in both languages, then freeze it"
            )
    before = frozen()
    after = freeze(ledger(), before, date.today())
    text = io.StringIO()
    YAML().dump({id_: " ".join(found) for id_, found in sorted(after.items())}, text)
    write_atomically(FROZEN, text.getvalue().encode())
    changed = [id_ for id_, found in after.items() if before.get(id_) != found]
    log.info("%s", ", ".join(changed) or "no rule changed")
