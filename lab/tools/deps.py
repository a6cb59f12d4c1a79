"""Write into dvc.yaml which rooms each stage depends on: `python -m lab.tools.deps`.

A stage depends on its `__main__.py`, on its measure/, and on the rooms of lab/ that these import,
directly or not; not on its findings.py, since another derivation measures nothing again. `claims`
and `report` depend on all of lab/ and stages/, and on every result.
"""

import argparse
import ast
import functools
import re
import sys
import textwrap
from pathlib import Path

from lab.core.files import write_atomically
from lab.core.process import run

ROOT = Path(__file__).resolve().parents[2]
PIPELINE = Path("dvc.yaml")
WIDTH = 118
SECONDS = ("claims", "report")  # stages that take seconds


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


def closure(path: Path) -> set[str]:
    """The files of ours that a file needs, itself included, as paths from the root."""
    seen: set[Path] = set()
    todo = [path]
    while todo:
        here = todo.pop()
        if here.name == "findings.py" and here.parent.parent.name == "stages":
            continue
        seen.add(here)
        todo += [
            file for module in imports(here) if (file := _file_of(module)) and file not in seen
        ]
    return {file.relative_to(ROOT).as_posix() for file in seen}


def _file_of(module: str) -> Path | None:
    """The file of a module of ours; none for a package or a name in a module."""
    path = ROOT / f"{module.replace('.', '/')}.py"
    return path if module.split(".")[0] in ("lab", "stages") and path.is_file() else None


def rooms(stage: str) -> set[str]:
    """What a stage's command needs of lab/ and stages/: rooms, and its `__main__.py`."""
    return {_room(file) for file in closure(ROOT / "stages" / stage / "__main__.py")}


def _room(file: str) -> str:
    """lab/<room>, stages/<name>/measure, or a stage's `__main__.py` itself."""
    parts = file.split("/")
    if parts[0] == "stages" and parts[2:] != ["__main__.py"]:
        return "/".join(parts[:3])
    return "/".join(parts[:2]) if parts[0] == "lab" else file


def told_by(stage: str) -> set[str]:
    """The results that `claims` or `report` reads, by what is in the stages' page/."""
    wanted = {"claims": "page/claims.yaml", "report": "page/en.md"}[stage]
    return {f"reports/{path.parents[1].name}" for path in (ROOT / "stages").glob(f"*/{wanted}")}


def with_deps(text: str) -> str:
    """The text of dvc.yaml with each stage's deps as its imports are; data and others stay."""
    return re.sub(
        r"^  (?P<stage>\w+):\n(?P<head>(?:    (?!deps:).*\n)*)    deps:\s*\[(?P<deps>[^\]]*)\]\n",
        _with_its_deps,
        text,
        flags=re.M,
    )


def _with_its_deps(found: re.Match[str]) -> str:
    stage, old = found["stage"], [dep for dep in re.split(r"[\s,]+", found["deps"]) if dep]
    if stage in SECONDS:
        kept = [dep for dep in old if dep in ("lab", "stages", "reports/hardware.json")]
        others = [dep for dep in old if dep.startswith("reports/") and dep not in kept]
        deps = [*kept, *sorted({*others, *told_by(stage)})]
    else:
        needed = rooms(stage)
        own = sorted(dep for dep in needed if dep.startswith("stages/"))
        read = (dep for dep in old if dep.startswith(("data/", "reports/")))
        deps = [*own, *sorted(needed - {*own}), *read]
    if {*deps} == {*old}:
        return found[0]
    return f"  {stage}:\n{found['head']}{_in_lines(deps)}"


def _in_lines(deps: list[str]) -> str:
    one = f"    deps: [{', '.join(deps)}]\n"
    if len(one) <= WIDTH:
        return one
    lines = textwrap.fill(
        ", ".join(deps), WIDTH, initial_indent="      [", subsequent_indent="       "
    )
    return f"    deps:\n{lines}]\n"


def main() -> None:
    """Write dvc.yaml, and say which stages have other deps now."""
    argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0]).parse_args()
    before = PIPELINE.read_text(encoding="utf-8")
    after = with_deps(before)
    write_atomically(PIPELINE, after.encode())
    print(f"{PIPELINE}: " + ("as before" if after == before else "has the deps of the imports now"))


if __name__ == "__main__":
    sys.exit(run(main))
