"""All claims in the book's order, from each stage's page/claims.yaml.

The files also have the sentences that no measurement here decides.
"""

import functools
from pathlib import Path

from lab.claims.book_order import BOOK_ORDER
from lab.claims.claim import Claim, Unmeasured, read_claims
from lab.core.errors import ParamsError

STAGES = Path(__file__).resolve().parents[2] / "stages"


@functools.cache
def ledger() -> tuple[Claim, ...]:
    """Return every claim; a stage without a claims.yaml has none.

    Raises:
        ParamsError: a file has a mistake, or two claims have the same id.
    """
    found: dict[str, Claim] = {}
    for claims, _ in _read(STAGES):
        for claim in claims:
            before = found.setdefault(claim.id.lower(), claim)
            if before is not claim:
                raise ParamsError(
                    f"{claims_file(claim.stage)}: a claim of {before.stage} has the id {before.id}"
                    " as well; choose an id that no claim has"
                )
    return tuple(found.values())


def unmeasured() -> tuple[Unmeasured, ...]:
    """Return every sentence of the notes that asserts something and is not measured."""
    return tuple(each for _, sentences in _read(STAGES) for each in sentences)


def claims_file(stage: str, stages: Path = STAGES) -> Path:
    """Return the file of a stage's claims, which need not exist."""
    return stages / stage / "page" / "claims.yaml"


@functools.cache
def _read(stages: Path) -> list[tuple[list[Claim], list[Unmeasured]]]:
    files = {stage: claims_file(stage, stages) for stage in BOOK_ORDER}
    return [read_claims(file, stage) for stage, file in files.items() if file.is_file()]
