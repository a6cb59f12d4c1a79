"""All claims of the notes in the book's order, found by stage name: each claims.py's `CLAIMS`."""

import functools
import importlib
import importlib.util

from lab.claims.book_order import BOOK_ORDER
from lab.claims.verdicts import Claim


@functools.cache
def ledger() -> tuple[Claim, ...]:
    """Every claim; a stage without a claims.py makes none."""
    modules = (f"stages.{stage}.claims" for stage in BOOK_ORDER)
    found = (importlib.import_module(name) for name in modules if importlib.util.find_spec(name))
    return tuple(claim for module in found for claim in module.CLAIMS)
