"""Compare params and metrics with a commit or a reference machine: which changes are real?

Wraps `dvc params diff` and `dvc metrics diff`. A metric `x` with `x_iqr` beside it, or with `x_low`
and `x_high`, is measured: it has changed only if the interval of the difference leaves out 0, and
only by more than 2 %. A time or a rate is judged relative to how fast the machine itself was, by
the product and the copy that each stage measures before and after: what these explain is the
machine's, not the code's. Nothing is called better or worse across hardware, nor of times that were
taken on a busy machine. Which hardware that was each result says itself, in the conditions.json
beside it.
"""

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lab.core.errors import ParamsError
from lab.core.files import CONDITIONS, HARDWARE_FILE, REPORTS
from lab.core.process import run
from lab.report.language import in_markdown
from lab.results.disturbances import disturbances_of
from lab.results.documents import read_conditions, read_hardware
from lab.results.stats import SMALLEST_EFFECT, difference_interval, summarise
from lab.timing.names import COPY_SPEEDS, PRODUCT_SPEEDS
from lab.tools.profiles import OWN_PARAMS, leaves
from lab.tools.references import REFERENCE, metrics_of, metrics_on_disk, path_of, read_reference

Change = Mapping[str, Any]  # DVC's {"old": ..., "new": ..., "diff": ...}
SPREAD, LOW, HIGH = "_iqr", "_low", "_high"
SPREADS = (SPREAD, LOW, HIGH)
IQRS = 3  # that an interval reaches to either side of a median
SPEEDS = (PRODUCT_SPEEDS, COPY_SPEEDS)  # a stage's own measure of the machine
IDS = "_ids"  # of the claims with a verdict
MORE_IS_BETTER = re.compile(r"speedup|per_s$|accuracy|of_peak|overlap_fraction")
LESS_IS_BETTER = re.compile(r"_(s|ms|us|ns)$|loss|error|failed|false_")
A_RATE = re.compile(r"per_s$")
OF_TIMES = re.compile(r"speedup|of_peak|overlap_fraction|_(s|ms|us|ns)$")
A_TIME = re.compile(r"(?<!per)_(s|ms|us|ns)$")


@dataclass(frozen=True)
class Value:
    """A metric on one side, and how far its interval reaches below and above; `spread` in words."""

    value: Any
    below: float = 0.0
    above: float = 0.0
    spread: str = ""

    @property
    def exact(self) -> bool:
        return not self.below + self.above

    def __str__(self) -> str:
        """The value with its spread, as a cell of the table."""
        if self.value is None:
            return "-"
        text = f"{self.value:.6g}" if isinstance(self.value, float) else str(self.value)
        return f"{text} ({self.spread})" if self.spread else text


def value_of(name: str, changes: Mapping[str, Change], side: str) -> Value:
    """A metric with its interval, by the two ends or by the IQR that stand beside it."""
    value = changes[name].get(side)
    if not isinstance(value, int | float):
        return Value(value)
    iqr, low, high = (changes.get(name + end, {}).get(side) for end in SPREADS)
    if isinstance(low, int | float) and isinstance(high, int | float):
        return Value(value, value - low, high - value, f"{low:.3g} to {high:.3g}")
    if isinstance(iqr, int | float) and iqr:
        return Value(value, IQRS * iqr, IQRS * iqr, f"IQR {iqr:.3g}")
    return Value(value)


@dataclass(frozen=True)
class MachineSpeed:
    """How many times as fast the machine was on the new side as on the old, at least and at most.

    By each reading of its speed: of computing and of copying, before and after a measurement.
    """

    low: float = 1.0
    high: float = 1.0

    def expected(self, name: str, value: float) -> tuple[float, float]:
        """What the same code would show on the new side, where the old one showed `value`."""
        if A_TIME.search(name):
            return value / self.high, value / self.low
        return (value * self.low, value * self.high) if A_RATE.search(name) else (value, value)


def speed_of(changes: Mapping[str, Change]) -> MachineSpeed:
    """The machine's speed by a stage's metrics; even where a side has none."""
    factors = []
    for readings in SPEEDS:
        old, new = (_readings(changes, readings, side) for side in ("old", "new"))
        if len(old) == len(new) == len(readings):
            factors += [min(new) / max(old), max(new) / min(old)]
    return MachineSpeed(min(factors), max(factors)) if factors else MachineSpeed()


def _readings(changes: Mapping[str, Change], names: Sequence[str], side: str) -> list[float]:
    found = (changes.get(name, {}).get(side) for name in names)
    return [float(value) for value in found if isinstance(value, int | float) and value > 0]


def mark(
    name: str, old: Value, new: Value, other_hardware: bool, speed: MachineSpeed = MachineSpeed()
) -> str:
    """What a metric's change from `old` to `new` amounts to."""
    if old.value is None or new.value is None:
        return "new" if old.value is None else "gone"
    if old.value == new.value:
        return "same"
    if other_hardware:
        return "other hardware"
    if not all(isinstance(side.value, int | float) for side in (old, new)):
        return "changed"
    if _within_noise(old, new):
        return "within noise"
    low, high = speed.expected(name, old.value)
    if low <= new.value <= high or any(
        _within_noise(replace(old, value=value), new) for value in (low, high)
    ):
        return "the machine's"
    if MORE_IS_BETTER.search(name):
        return "better" if new.value > high else "worse"
    if LESS_IS_BETTER.search(name):
        return "better" if new.value < low else "worse"
    return "changed"


def _within_noise(old: Value, new: Value) -> bool:
    """Whether 0 is in the interval of the difference, or the effect is too small to count."""
    if old.exact and new.exact:
        return False
    ends = ((v.value, v.value - v.below, v.value + v.above) for v in (new, old))
    low, high = difference_interval(*ends)
    small = abs(new.value - old.value) <= SMALLEST_EFFECT * abs(old.value)
    return small or low <= 0 <= high


def table(
    metrics: Mapping[str, Mapping[str, Change]], other_hardware: Container[str]
) -> Iterator[tuple[str, ...]]:
    """(file, metric, old, new, mark) of each metric that differs, its spread behind the value.

    `other_hardware` has the files whose two sides were measured on different machines.
    """
    for file, changes in metrics.items():
        speed = speed_of(changes)
        sides = ({key: each.get(side) for key, each in changes.items()} for side in ("old", "new"))
        busy = any(map(disturbances_of, sides))
        for name in changes:
            if any(name in readings for readings in SPEEDS):
                continue  # the machine's own: `speeds` tells of them
            if any(name.endswith(end) and name.removesuffix(end) in changes for end in SPREADS):
                continue
            old, new = (value_of(name, changes, side) for side in ("old", "new"))
            verdict = mark(name, old, new, file in other_hardware, speed)
            if busy and OF_TIMES.search(name) and verdict in ("better", "worse", "changed"):
                verdict = "busy machine"
            spread = name + SPREAD in changes
            if spread and old.exact and new.exact and verdict in ("better", "worse", "changed"):
                verdict = "one sample each"  # a time without a spread: nobody knows its noise
            if verdict != "same":
                shown = _ids_that_differ(old, new) if name.endswith(IDS) else (str(old), str(new))
                yield file, name, *shown, verdict


def speeds(metrics: Mapping[str, Mapping[str, Change]]) -> list[str]:
    """A line on how fast the machine was on each side, by the medians over the stages' readings.

    Only of stages that were measured anew: the same readings on both sides are one measurement.
    """
    anew = [changes for changes in metrics.values() if _measured_anew(changes)]
    shown = []
    for readings, what, unit in zip(SPEEDS, ("product", "copy"), ("GFLOP/s", "GB/s"), strict=True):
        sides = [
            [n for changes in anew for n in _readings(changes, readings, side)]
            for side in ("old", "new")
        ]
        if all(sides):
            old, new = (summarise(side).median for side in sides)
            shown.append(f"{what} {old:.4g} -> {new:.4g} {unit}")
    return [f"the machine itself: {', '.join(shown)}"] if shown else []


def _measured_anew(changes: Mapping[str, Change]) -> bool:
    names = [name for readings in SPEEDS for name in readings]
    old, new = (_readings(changes, names, side) for side in ("old", "new"))
    return old != new


def _ids_that_differ(old: Value, new: Value) -> tuple[str, str]:
    """Of two lists of ids, those of each that the other lacks."""
    before, after = (str(side.value or "").split() for side in (old, new))
    gone = " ".join(each for each in before if each not in after)
    come = " ".join(each for each in after if each not in before)
    return gone or "-", come or "-"


def changes_between(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Change]:
    """Both sides of every key that either side has; nested keys as `group.key`."""
    before, after = dict(leaves(old)), dict(leaves(new))
    return {key: {"old": before.get(key), "new": after.get(key)} for key in before | after}


def _dvc(*arguments: str) -> dict[str, Any]:
    """The JSON that a DVC command prints.

    Raises:
        ParamsError: the command failed; the message has DVC's reason.
    """
    command = [sys.executable, "-m", "dvc", *arguments, "--json"]
    print("$ dvc", *arguments, file=sys.stderr, flush=True)
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        lines = result.stderr.strip().splitlines() or ["no reason given"]
        raise ParamsError(
            f"dvc {' '.join(arguments)}: {lines[0].removeprefix('ERROR: ')}; name a commit of this"
            " repository"
        )
    return dict(json.loads(result.stdout or "{}"))


def with_commit(rev: str) -> tuple[list[str], list[tuple[str, ...]]]:
    """Lines on params and hardware that differ from a commit's, and the table of metrics.

    Raises:
        ParamsError: no such commit.
        DataError: a file of the results here is damaged.
    """
    metrics_on_disk()  # a damaged file, which DVC would take for one that is gone
    if HARDWARE_FILE.is_file():
        read_hardware()
    params = _dvc("params", "diff", rev)
    metrics = _dvc("metrics", "diff", rev, "--all")
    lines = [
        f"{file}: {key}: {change.get('old')} -> {change.get('new')}"
        for file, changes in params.items()
        for key, change in changes.items()
    ]
    elsewhere = {
        file for file in metrics if _machine_at(rev, file) != machine_of(Path(file).parent)
    }
    lines += [*_other_hardware(elsewhere), *speeds(metrics)]
    return lines, list(table(metrics, elsewhere))


def machine_of(folder: Path) -> Any:
    """The machine that measured the results in a folder; this one where they do not say."""
    if found := read_conditions(folder).get("machine"):
        return found
    return read_hardware() if HARDWARE_FILE.is_file() else {}


def _machine_at(rev: str, file: str) -> Any:
    """The machine that measured a commit's results; its hardware.json where they do not say."""
    conditions = _at_commit(rev, Path(file).with_name(CONDITIONS))
    return conditions.get("machine") or _at_commit(rev, HARDWARE_FILE)


def _at_commit(rev: str, path: Path) -> dict[str, Any]:
    """A JSON file as a commit has it, empty if it has none."""
    command = ["git", "show", f"{rev}:{path.as_posix()}"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return dict(json.loads(result.stdout)) if result.returncode == 0 else {}


def with_reference(name: str) -> tuple[list[str], list[tuple[str, ...]]]:
    """Lines on hardware that differs from a reference's, and the table of metrics.

    Raises:
        ParamsError: there is no `reports/reference/NAME.json`.
        DataError: that, or a file of the results here, is damaged.
    """
    path = path_of(name)
    if not path.is_file():
        there = ", ".join(sorted(found.stem for found in REFERENCE.glob("*.json"))) or "none yet"
        raise ParamsError(
            f"{path}: no such reference (there are: {there}); `invoke snapshot` makes one of this"
            " machine"
        )
    reference = read_reference(path)
    stages, here = metrics_of(reference), metrics_on_disk()
    both = {stage: changes_between(stages[stage], here[stage]) for stage in stages if stage in here}
    theirs = reference["hardware"]
    elsewhere = {stage for stage in both if machine_of(REPORTS / stage) != theirs}
    profile = reference["profile"]
    named = profile if profile == OWN_PARAMS else f"the profile {profile}"
    lines = [f"{name} was measured with {named}"]
    lines += [
        f"{HARDWARE_FILE}: {key}: {change['old']} -> {change['new']}"
        for key, change in changes_between(theirs, read_hardware()).items()
        if change["old"] != change["new"]
    ]
    lines += [*_other_hardware(elsewhere), *speeds(both)]
    return lines, list(table(both, elsewhere))


def _other_hardware(files: Collection[str]) -> list[str]:
    if not files:
        return []
    names = ", ".join(
        sorted(f.removeprefix("reports/").removesuffix("/metrics.json") for f in files)
    )
    return [f"other hardware on the two sides, whose times are not compared: {names}"]


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The rows as lines of text, in columns."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def markdown(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The rows, the first of them a header, as the lines of a Markdown table."""
    header, *others = [[in_markdown(cell) for cell in row] for row in rows]
    for row in (header, ["---"] * len(header), *others):
        yield f"| {' | '.join(row)} |"


def main() -> None:
    """Print changed params and hardware, and changed metrics with what each change amounts to."""
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
        print(f"- {in_markdown(line)}" if arguments.md else line)
    if not rows:
        print(f"no metric differs from {other}")
        return
    if arguments.md:
        print()  # a list ends before a table begins
    shown = [("file", "metric", other, "workspace", ""), *rows]
    print("\n".join(markdown(shown) if arguments.md else aligned(shown)))


if __name__ == "__main__":
    sys.exit(run(main))
