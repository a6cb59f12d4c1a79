"""Which files of ours a file imports, read from their text."""

import ast
import functools
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@functools.cache
def imports(path: Path) -> frozenset[str]:
    """The modules that a file imports anywhere in it, functions included; dotted names."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(found)


def closure(path: Path, counts: Callable[[Path], bool] = lambda path: True) -> list[Path]:
    """The files of lab/ and stages/ that a file needs, itself included, directly or not.

    Those that do not count are left out, with what they import alone.
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
    """The file of a module of ours; none for a package or a name in a module."""
    path = ROOT / f"{module.replace('.', '/')}.py"
    return path if module.split(".")[0] in ("lab", "stages") and path.is_file() else None
