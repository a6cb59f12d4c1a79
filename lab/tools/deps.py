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
    return {_room(file) for file in closure(ROOT / "stages" / stage / "__main__.py", _measures)}


def _measures(file: Path) -> bool:
    """Whether a stage's results depend on a file: not on its findings.py."""
    return not (file.name == "findings.py" and file.parent.parent.name == "stages")


def _room(file: Path) -> str:
    """lab/<room>, stages/<name>/measure, or a stage's `__main__.py` itself."""
    parts = file.relative_to(ROOT).parts
    return "/".join(parts[: 2 if parts[0] == "lab" else 3])


def told_by(stage: str) -> set[str]:
    """The results that `claims` or `report` reads, by what is in the stages' page/."""
    wanted = {"claims": "page/claims.yaml", "report": "page/en.md"}[stage]
    return {f"reports/{path.parents[1].name}" for path in (ROOT / "stages").glob(f"*/{wanted}")}


def with_deps(text: str) -> str:
    """The text of dvc.yaml with each stage's deps as its imports are; data and others stay."""
    stage, head, deps = r"  (\w+):\n", r"(?:    (?!deps:).*\n)*", r"    deps:\s*\[([^\]]*)\]\n"
    return re.sub(f"^{stage}({head}){deps}", _with_its_deps, text, flags=re.M)


def _with_its_deps(found: re.Match[str]) -> str:
    stage, head, listed = found.groups()
    old = [dep for dep in re.split(r"[\s,]+", listed) if dep]
    if stage in SECONDS:
        deps = [*old, *sorted(told_by(stage) - {*old})]
    else:
        own_first = sorted(rooms(stage), key=lambda dep: (dep.startswith("lab/"), dep))
        deps = [*own_first, *(dep for dep in old if dep.startswith(("data/", "reports/")))]
    if {*deps} == {*old}:
        return found[0]
    text = f"[{', '.join(deps)}]"
    if len(text) > WIDTH - len("    deps: "):
        lines = textwrap.fill(text, WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 7)
        text = f"\n{lines}"
    return f"  {stage}:\n{head}    deps: {text}\n".replace("deps: \n", "deps:\n")


def write_deps() -> None:
    """Write dvc.yaml, and say whether stages have other deps now."""
    before = PIPELINE.read_text(encoding="utf-8")
    after = with_deps(before)
    write_atomically(PIPELINE, after.encode())
    print(f"{PIPELINE}: " + ("as before" if after == before else "has the deps of the imports now"))
