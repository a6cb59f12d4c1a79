"""Everything that is measured or derived is also read."""

import ast
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path

import pytest

from lab.claims.ledger import ledger
from lab.core.files import ROWS, read_rows
from lab.results.derived import derivation_of
from lab.results.documents import read_results
from lab.results.findings import Finding
from lab.results.measurements import Results
from tests.helpers import COMMITTED, ROOT

STAGES = sorted(
    path.parent.name
    for path in (COMMITTED / "reports").glob(f"*/{ROWS}")
    if path.parent.name != "claims"
)


def strings(tree: ast.AST, constants: dict[str, ast.expr]) -> Iterator[str]:
    """Yield the strings in an expression and in constants it names, without keys and indices."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.Constant(value=str(text)):
                yield text
            case ast.Name(id=name) | ast.Attribute(attr=name) if name in constants:
                yield from strings(ast.Expr(constants[name]), {})
            case ast.Subscript(value=value):
                yield from strings(ast.Expr(value), constants)
            case ast.Dict(values=values):
                yield from strings(ast.List(values), constants)
            case _:
                yield from strings(node, constants)


def readers(stage: Path) -> Iterator[ast.AST]:
    """Yield the code of a page and `__main__`, and functions in measure/ that take Results."""
    for file in (stage / "__main__.py", *stage.glob("findings.py"), *stage.glob("page/*.py")):
        yield ast.parse(file.read_text())
    for file in stage.glob("measure/*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef) and "Results" in ast.unparse(node.args):
                yield node


def constants_of(stage: Path) -> dict[str, ast.expr]:
    """Return the constants in a stage's measure/ and findings.py, by name."""
    found: dict[str, ast.expr] = {}
    for file in (*stage.glob("measure/*.py"), *stage.glob("findings.py")):
        for node in ast.parse(file.read_text()).body:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    found[name] = value
                case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                    found |= dict(zip(map(ast.unparse, names), values, strict=True))
    return found


@pytest.mark.parametrize("stage", STAGES)
def test_every_experiment_in_rows_csv_is_read(stage):
    """A metric, claim, page value, figure or explorable names it."""
    constants = constants_of(ROOT / "stages" / stage)
    read = {text for code in readers(ROOT / "stages" / stage) for text in strings(code, constants)}
    measured = {row["experiment"] for row in read_rows(COMMITTED / "reports" / stage / ROWS)}
    assert measured <= read, f"measured and never read: {measured - read}"


class Recording(dict[str, Finding]):
    """Findings that record which of them were looked up."""

    def __init__(self, found: Mapping[str, Finding]) -> None:
        super().__init__(found)
        self.asked: set[str] = set()

    def __getitem__(self, name: str) -> Finding:
        self.asked.add(name)
        return super().__getitem__(name)


def asked_by_page(stage: str, found: Recording, results: Results) -> set[str]:
    """Return the findings that a page's code looks up, and all words in texts of pages."""
    for path in (ROOT / "stages" / stage / "page").glob("*.py"):
        code = import_module(f"stages.{stage}.page.{path.stem}")
        for name in ("values", "figures", "explorables"):
            if hasattr(code, name):
                getattr(code, name)(results, found)
    report = ROOT / "stages" / "report"
    texts = [*(ROOT / "stages" / stage / "page").glob("*.md"), *report.glob("page/*.md")]
    return found.asked | {
        word
        for path in (*texts, *report.glob("*.py"))
        for word in re.findall(r"\w+", path.read_text())
    }


@pytest.mark.parametrize("stage", STAGES)
def test_every_finding_is_used(stage):
    """A claim, a metric or a page uses it."""
    results = read_results(COMMITTED / "reports" / stage)
    derivation = derivation_of(stage)
    found = Recording(derivation.findings(results))
    decided = {name for claim in ledger() if claim.stage == stage for name in claim.deciding}
    told = decided | asked_by_page(stage, found, results) | set(derivation.METRICS)
    assert found.keys() <= told, f"derived and never told: {sorted(found.keys() - told)}"
