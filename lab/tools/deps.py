"""Write into dvc.yaml which rooms each stage depends on: `invoke deps`.

A stage depends on its `__main__.py`, on its measure/, and on the rooms of lab/ that these import,
directly or not; not on its findings.py, since another derivation measures nothing again. `claims`
and `report` depend on all of lab/ and stages/, and on every result.
"""

import re
import textwrap
from pathlib import Path

from lab.core.files import write_atomically
from lab.core.imports import ROOT, closure

PIPELINE = Path("dvc.yaml")
WIDTH = 118
SECONDS = ("claims", "report")  # stages that take seconds


def rooms(stage: str) -> set[str]:
    """What a stage's command needs of lab/ and stages/: rooms, and its `__main__.py`."""
    return {_room(file) for file in closure(ROOT / "stages" / stage / "__main__.py", measures)}


def measures(file: Path) -> bool:
    """Whether a stage's results depend on a file: not on its findings.py."""
    return not (file.name == "findings.py" and file.parent.parent.name == "stages")


def _room(file: Path) -> str:
    """lab/<room>, stages/<name>/measure, or a stage's `__main__.py` itself."""
    parts = file.relative_to(ROOT).parts
    if parts[0] == "stages" and parts[2:] != ("__main__.py",):
        return "/".join(parts[:3])
    return "/".join(parts[: 2 if parts[0] == "lab" else None])


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


def write_deps() -> None:
    """Write dvc.yaml, and say which stages have other deps now."""
    before = PIPELINE.read_text(encoding="utf-8")
    after = with_deps(before)
    write_atomically(PIPELINE, after.encode())
    print(f"{PIPELINE}: " + ("as before" if after == before else "has the deps of the imports now"))
