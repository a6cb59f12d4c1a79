"""Compare params and metrics with a commit or a reference machine, and say which changes mean
something.

Wraps `dvc params diff` and `dvc metrics diff`. A metric `x` with an `x_iqr` beside it is a measured
median: it moved only if it moved by more than the noise of both sides. Nothing is called better or
worse across hardware.
"""

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lab.core.errors import LabError
from lab.core.exit_codes import run
from lab.core.files import HARDWARE_FILE, read_json
from lab.results.stats import exceeds_noise
from lab.tools.profiles import leaves
from lab.tools.references import REFERENCE, metrics_of, metrics_on_disk

Change = Mapping[str, Any]  # DVC's {"old": ..., "new": ..., "diff": ...}
SPREAD = "_iqr"
MORE_IS_BETTER = re.compile(r"speedup|per_s$|accuracy|of_peak|overlap_fraction")
LESS_IS_BETTER = re.compile(r"_(s|ms|us|ns)$|loss|error|failed|false_")


def mark(
    name: str, old: Any, new: Any, old_iqr: float, new_iqr: float, other_hardware: bool
) -> str:
    """Return what a metric's change from `old` to `new` amounts to; an IQR of 0 means that it is
    exact.
    """
    if old is None or new is None:
        return "new" if old is None else "gone"
    if old == new:
        return "same"
    if other_hardware:
        return "other hardware"
    measured = old_iqr > 0 or new_iqr > 0
    if measured and not exceeds_noise(old, new, old_iqr, new_iqr):
        return "within noise"
    if not all(isinstance(side, int | float) for side in (old, new)):
        return "changed"
    if MORE_IS_BETTER.search(name):
        return "better" if new > old else "worse"
    if LESS_IS_BETTER.search(name):
        return "better" if new < old else "worse"
    return "changed"


def table(
    metrics: Mapping[str, Mapping[str, Change]], other_hardware: bool
) -> Iterator[tuple[str, ...]]:
    """Yield (file, metric, old, new, mark) for each metric that differs; spreads stand behind their
    medians.
    """
    for file, changes in metrics.items():
        for name, change in changes.items():
            if name.endswith(SPREAD) and name.removesuffix(SPREAD) in changes:
                continue
            spread = changes.get(name + SPREAD, {})
            spreads = [float(spread.get(side) or 0) for side in ("old", "new")]
            verdict = mark(
                name, change.get("old"), change.get("new"), spreads[0], spreads[1], other_hardware
            )
            if spread and not any(spreads) and verdict in ("better", "worse", "changed"):
                verdict = "one sample each"  # a time without a spread: nobody knows its noise
            if verdict != "same":
                sides = [
                    _in_words(change.get(side), iqr)
                    for side, iqr in zip(("old", "new"), spreads, strict=True)
                ]
                yield file, name, *sides, verdict


def _in_words(value: Any, iqr: float) -> str:
    if value is None:
        return "-"
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return f"{text} (IQR {iqr:.3g})" if iqr else text


def changes_between(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Change]:
    """Return both sides of every key that either has, groups of keys as `group.key`."""
    before, after = dict(leaves(old)), dict(leaves(new))
    return {key: {"old": before.get(key), "new": after.get(key)} for key in before | after}


def _dvc(*arguments: str) -> dict[str, Any]:
    """Return the JSON that a DVC command prints.

    Raises:
        LabError: it failed; DVC's own line says why.
    """
    command = [sys.executable, "-m", "dvc", *arguments, "--json"]
    print("$ dvc", *arguments, file=sys.stderr, flush=True)
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        lines = result.stderr.strip().splitlines() or ["no reason given"]
        raise LabError(
            f"dvc {' '.join(arguments)}: {lines[0].removeprefix('ERROR: ')}; name a commit of this"
            f" repository"
        )
    return dict(json.loads(result.stdout or "{}"))


def with_commit(rev: str) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return lines on what differs in params and hardware from a commit, and the table of
    metrics.
    """
    params = _dvc("params", "diff", rev)
    metrics = _dvc("metrics", "diff", rev, "--all")
    hardware = params.pop(str(HARDWARE_FILE), {})
    lines = [
        f"{file}: {key}: {change.get('old')} -> {change.get('new')}"
        for file, changes in params.items()
        for key, change in changes.items()
    ]
    return lines + _other_hardware(hardware), list(table(metrics, other_hardware=bool(hardware)))


def with_reference(name: str) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return the same against `reports/reference/NAME.json`.

    Raises:
        LabError: there is no such reference.
    """
    path = REFERENCE / f"{name}.json"
    if not path.is_file():
        there = ", ".join(sorted(found.stem for found in REFERENCE.glob("*.json"))) or "none yet"
        raise LabError(
            f"{path}: no such reference (there are: {there}); `invoke snapshot` makes one of this"
            f" machine"
        )
    reference = read_json(path)
    stages, here = metrics_of(reference), metrics_on_disk()
    both = {stage: changes_between(stages[stage], here[stage]) for stage in stages if stage in here}
    differs = changes_between(reference["hardware"], read_json(HARDWARE_FILE))
    hardware = {key: change for key, change in differs.items() if change["old"] != change["new"]}
    lines = [f"{name} was measured with the profile {reference['profile']}"]
    return lines + _other_hardware(hardware), list(table(both, other_hardware=bool(hardware)))


def _other_hardware(changes: Mapping[str, Change]) -> list[str]:
    return [
        f"other hardware: {key}: {change.get('old')} -> {change.get('new')}; times are not compared"
        for key, change in changes.items()
    ]


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the rows as lines of columns that stand under each other."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def markdown(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the rows, a header first, as a table that a pull request shows."""
    header, *others = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    for row in (header, ["---"] * len(header), *others):
        yield f"| {' | '.join(row)} |"


def main() -> None:
    """Print changed params, changed hardware, and changed metrics with what each change amounts
    to.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rev", nargs="?", default="HEAD")
    parser.add_argument(
        "--reference", default="", help="compare with reports/reference/NAME.json instead"
    )
    parser.add_argument("--md", action="store_true", help="as Markdown")
    arguments = parser.parse_args()
    other = arguments.reference or arguments.rev
    lines, rows = with_reference(other) if arguments.reference else with_commit(other)
    for line in lines:
        print(f"- {line}" if arguments.md else line)
    if not rows:
        print(f"no metric differs from {other}")
        return
    if arguments.md:
        print()  # a list ends before a table begins
    shown = [("file", "metric", other, "workspace", ""), *rows]
    print("\n".join(markdown(shown) if arguments.md else aligned(shown)))


if __name__ == "__main__":
    sys.exit(run(main))
