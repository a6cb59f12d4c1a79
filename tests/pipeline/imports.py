"""What a file imports, directly or not: which files a stage's results depend on."""

import ast
import functools
from pathlib import Path

from tests.helpers import ROOT


@functools.cache
def imports(path: Path) -> frozenset[str]:
    """Return the modules that a file imports anywhere in it, functions included; dotted names."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(found)


def file_of(module: str) -> Path | None:
    """Return the file of a module of ours; none for a package, whose __init__ is a docstring, or a
    name in a module.
    """
    path = ROOT / f"{module.replace('.', '/')}.py"
    return path if module.split(".")[0] in ("lab", "stages") and path.is_file() else None


def closure(path: Path) -> set[str]:
    """Return the files of ours that a file needs, itself included, as paths from the root."""
    seen: set[Path] = set()
    todo = [path]
    while todo:
        here = todo.pop()
        seen.add(here)
        todo += [file for module in imports(here) if (file := file_of(module)) and file not in seen]
    return {file.relative_to(ROOT).as_posix() for file in seen}
