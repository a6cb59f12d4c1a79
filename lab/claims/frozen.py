"""Which rule a verdict comes from: a claim's sentence, its range, and how its numbers are derived.

Rules are frozen: frozen.yaml has each claim's day and digest. A rule that changes gets a new day
(`since`), or `invoke freeze` refuses it, and only results that are measured later than that day
are a test of a rule that was fixed before.
"""

import ast
import functools
import hashlib
import re
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

from lab.claims.claim import Claim
from lab.claims.ledger import STAGES
from lab.core.errors import ParamsError
from lab.core.params import read_yaml

FROZEN = Path(__file__).with_name("frozen.yaml")


def digest(claim: Claim) -> str:
    """A claim's rule in eight characters: others if its sentence, range or definition changes."""
    derived = "\n".join(_definition(claim.stage, name) for name in claim.deciding)
    rule = f"{claim.says.en}\n{claim.holds}\n{derived}"
    return "r" + hashlib.sha256(rule.encode()).hexdigest()[:7]  # in no table a number


@functools.cache
def _definition(stage: str, name: str) -> str:
    return definition(_findings_of(stage), name)


@functools.cache
def _findings_of(stage: str) -> ast.Module:
    return ast.parse((STAGES / stage / "findings.py").read_text(encoding="utf-8"))


def definition(module: ast.Module, name: str) -> str:
    """How a findings.py derives a finding: its expression, and what that names in the file.

    Where no entry of a dictionary has the name, it is all of `findings`. Comments, docstrings and
    the layout do not count.
    """
    defined = _defined(module)
    entries = [value for key, value in _entries(module) if _names(key, name)]
    entries = entries or [defined["findings"]]
    wanted, found = list(entries), dict[str, ast.AST]()
    while wanted:
        for node in ast.walk(wanted.pop()):
            used = node.id if isinstance(node, ast.Name) else ""
            if used in defined and used not in found and used != "findings":
                found[used] = defined[used]
                wanted.append(defined[used])
    return "\n".join(map(_dumped, [*entries, *(found[each] for each in sorted(found))]))


@functools.cache
def _defined(module: ast.Module) -> dict[str, ast.AST]:
    """Functions and variables of a file, also those within its functions."""
    found: dict[str, ast.AST] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign):
            names = [part for target in node.targets for part in ast.walk(target)]
            found |= {part.id: node for part in names if isinstance(part, ast.Name)}
    return found


@functools.cache
def _entries(module: ast.Module) -> list[tuple[ast.expr, ast.AST]]:
    """The entries of all dictionaries, each with its key."""
    found: list[tuple[ast.expr, ast.AST]] = []
    for node in ast.walk(module):
        if isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            found += [(key, value) for key, value in pairs if key]
        elif isinstance(node, ast.DictComp):
            found.append((node.key, node))
    return found


def _names(key: ast.expr, name: str) -> bool:
    """Whether a key is a name, or an f-string that may become it."""
    if isinstance(key, ast.Constant):
        return bool(key.value == name)
    if not isinstance(key, ast.JoinedStr):
        return False
    parts = [
        re.escape(str(part.value)) if isinstance(part, ast.Constant) else r"\w+"
        for part in key.values
    ]
    return bool(re.fullmatch("".join(parts), name))


def _dumped(node: object) -> str:
    """A node as text, the same by every version of Python; without docstrings."""
    if isinstance(node, list):
        return f"[{', '.join(map(_dumped, node))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = dict(ast.iter_fields(node))
    if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None:
        fields["body"] = node.body[1:]
    shown = {k: v for k, v in fields.items() if k != "ctx" and v not in (None, [])}
    return f"{type(node).__name__}({', '.join(f'{k}={_dumped(v)}' for k, v in shown.items())})"


def frozen() -> dict[str, list[str]]:
    """Each claim's day and digest, by id.

    Raises:
        ParamsError: the file is damaged.
    """
    return {id_: found.split() for id_, found in read_yaml(FROZEN).items()}


def freeze(
    claims: Sequence[Claim], before: Mapping[str, Sequence[str]], today: date
) -> dict[str, list[str]]:
    """The days and digests of claims.

    A rule may change twice on a day: no result of that day tests it.

    Raises:
        ParamsError: a rule is new or changed, or its day is another, and that day is not today.
    """
    found = {}
    for claim in claims:
        now = [claim.since.isoformat(), digest(claim)]
        if now != before.get(claim.id) and claim.since != today:
            what = (
                "`since` is still to come"
                if claim.since > today
                else "its sentence, range, definition or day changed"
            )
            raise ParamsError(
                f"stages/{claim.stage}/page/claims.yaml: claim {claim.id}: {what}; set its"
                f" `since` to {today}"
            )
        found[claim.id] = now
    return found
