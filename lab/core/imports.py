"""The project's files that a file imports, found without running them."""

import ast
import functools
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@functools.cache
def imports(path: Path) -> frozenset[str]:
    """Return the dotted names of modules that a file imports, including those within functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(found)


def closure(path: Path, counts: Callable[[Path], bool] = lambda path: True) -> list[Path]:
    """Return the files of lab/ and stages/ that a file needs, directly or not, and itself.

    Files that do not count are left out, along with what only they import.
    """
    seen: set[Path] = set()
    todo = [path]
    while todo:
        here = todo.pop()
        if here in seen or not counts(here):
            continue
        seen.add(here)
        todo += [file for module in imports(here) if (file := _file_of(module))]
    return sorted(seen)


def _file_of(module: str) -> Path | None:
    """Return the file of a module of the project; None for a package or a name in a module."""
    path = ROOT / f"{module.replace('.', '/')}.py"
    return path if module.split(".")[0] in ("lab", "stages") and path.is_file() else None
