"""All claims of the notes in the book's order, found by stage name: each page/claims.py's `CLAIMS`.

Beside them, a claims.py may have `UNMEASURED`: sentences that no measurement here decides.
"""

import functools
import importlib
import importlib.util
from types import ModuleType

from lab.claims.book_order import BOOK_ORDER
from lab.claims.verdicts import Claim, Unmeasured


@functools.cache
def ledger() -> tuple[Claim, ...]:
    """Every claim; a stage without a claims.py makes none."""
    return tuple(claim for module in _modules() for claim in module.CLAIMS)


@functools.cache
def unmeasured() -> tuple[Unmeasured, ...]:
    """Every sentence of the notes that asserts something and is not measured, with the reason."""
    return tuple(each for module in _modules() for each in getattr(module, "UNMEASURED", ()))


def _modules() -> list[ModuleType]:
    names = (f"stages.{stage}.page.claims" for stage in BOOK_ORDER)
    return [importlib.import_module(name) for name in names if importlib.util.find_spec(name)]
