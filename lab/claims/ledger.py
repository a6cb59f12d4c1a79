"""All claims of the notes in the book's order, found by stage name: each page/claims.py's `CLAIMS`.

Beside them, a claims.py may have `UNMEASURED`: sentences that no measurement here decides.
"""

import functools
import importlib
import importlib.util
from dataclasses import replace
from types import ModuleType

from lab.claims.book_order import BOOK_ORDER
from lab.claims.verdicts import Claim, Unmeasured
from lab.core.errors import ParamsError


@functools.cache
def ledger() -> tuple[Claim, ...]:
    """Every claim; a stage without a claims.py makes none.

    Raises:
        ParamsError: two claims have one id.
    """
    found: dict[str, Claim] = {}
    for module in _modules():
        for claim in _with_stage(module):
            before = found.setdefault(claim.id.lower(), claim)
            if before is not claim:
                raise ParamsError(
                    f"{module.__name__}: a claim of {before.stage} has the id {before.id} as well;"
                    " choose an id that no claim has"
                )
    return tuple(found.values())


@functools.cache
def unmeasured() -> tuple[Unmeasured, ...]:
    """Every sentence of the notes that asserts something and is not measured, with the reason."""
    return tuple(each for module in _modules() for each in getattr(module, "UNMEASURED", ()))


def _modules() -> list[ModuleType]:
    names = (f"stages.{stage}.page.claims" for stage in BOOK_ORDER)
    return [importlib.import_module(name) for name in names if importlib.util.find_spec(name)]


def _with_stage(module: ModuleType) -> list[Claim]:
    """A page's claims, which say nothing of their stage."""
    stage = module.__name__.split(".")[1]
    return [replace(claim, stage=stage) for claim in module.CLAIMS]
