"""Compare the results here with a commit's or a reference machine's: which changes are real?

A number is better or worse only if it has an interval on both sides (`x_low` and `x_high`, or
`x_iqr`, among its stage's metrics), the interval of the difference leaves out 0, and it changed by
more than 2 %. A time or a rate is judged relative to how fast the machine itself was, by the
product and the copy that each stage measures before and after: what these explain is the machine's,
not the code's. Nothing is judged across hardware, no times of a busy machine, and no accuracy or
loss of one seed. What counts most comes first, in 25 lines; `--all` shows the rest.
"""

import argparse
import io
import re
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from lab.core.errors import DataError, MachineError, ParamsError, instead_of
from lab.core.files import HARDWARE_FILE, METRICS, REPORTS, read_json, read_rows
from lab.core.params import PARAMS_FILE, read_yaml
from lab.core.process import run
from lab.report.language import in_markdown
from lab.results.disturbances import disturbances_of
from lab.results.documents import read_conditions, read_hardware
from lab.results.stats import SMALLEST_EFFECT, difference_interval, summarise
from lab.timing.names import COPY_SPEEDS, PRODUCT_SPEEDS
from lab.tools.profiles import OWN_PARAMS, leaves
from lab.tools.references import (
    CLAIMS,
    REFERENCE,
    metrics_of,
    metrics_on_disk,
    path_of,
    read_reference,
)

Metrics = Mapping[str, Any]  # of a stage
MOST_LINES = 25  # that are printed, unless all are asked for
MOST_OF_A_KIND = 5  # params, facts, stages or verdicts that are named, likewise
SPREAD, LOW, HIGH = "_iqr", "_low", "_high"
IQRS = 3  # that an interval reaches to either side of a median
SPEEDS = (PRODUCT_SPEEDS, COPY_SPEEDS)  # a stage's own measure of the machine
A_TIME = re.compile(r"(?<!per)_(s|ms|us|ns)$")
A_RATE = re.compile(r"per_s$")
MORE_IS_BETTER = re.compile(r"speedup$|per_s$|overlap_fraction$")
OF_TIMES = re.compile(f"{A_TIME.pattern}|speedup|of_peak|overlap_fraction")
VARIES = re.compile(f"{OF_TIMES.pattern}|per_s$|accuracy|loss|error")  # from run to run

AS_FAST = (1.0, 1.0)  # as before, at least and at most
JUDGED = ("better", "worse")
NO_CHANGE = ("within noise", "the machine's")
NO_INTERVAL = "no interval"
CONTRADICTIONS = ("confirmed -> refuted", "refuted -> confirmed")


@dataclass(frozen=True)
class Side:
    """Results to be compared.

    Attributes:
        metrics: by folder under reports: a stage's, or `train/<run>`.
        machines: the facts of the one that measured each.
        hardware: the facts of the machine in use.
        verdicts: by claim.
        params: by dotted key.
    """

    metrics: Mapping[str, Metrics]
    machines: Mapping[str, Any]
    hardware: Mapping[str, Any]
    verdicts: Mapping[str, str]
    params: Mapping[str, Any] = field(default_factory=dict)


class Row(NamedTuple):
    """A metric that differs, and what its change amounts to."""

    folder: str
    metric: str
    old: str
    new: str
    mark: str
    size: float  # of the change, relative to the larger side


@dataclass(frozen=True)
class Value:
    """A metric on one side, how far its interval reaches below and above, and that in words."""

    value: Any
    below: float = 0.0
    above: float = 0.0
    spread: str = ""

    @property
    def ends(self) -> tuple[float, float, float]:
        """The value and the ends of its interval."""
        return self.value, self.value - self.below, self.value + self.above

    def __str__(self) -> str:
        """The value with its spread, as a cell of the table."""
        if self.value is None:
            return "-"
        text = f"{self.value:.6g}" if isinstance(self.value, float) else str(self.value)
        return f"{text} ({self.spread})" if self.spread else text


def value_of(name: str, metrics: Metrics) -> Value:
    """A metric with its interval, by the two ends or by the IQR that stand beside it."""
    value = metrics.get(name)
    iqr, low, high = (metrics.get(name + end) for end in (SPREAD, LOW, HIGH))
    if isinstance(value, int | float):
        if isinstance(low, int | float) and isinstance(high, int | float):
            return Value(value, value - low, high - value, f"{low:.3g} to {high:.3g}")
        if isinstance(iqr, int | float) and iqr:
            return Value(value, IQRS * iqr, IQRS * iqr, f"IQR {iqr:.3g}")
    return Value(value)


def speed_of(old: Metrics, new: Metrics) -> tuple[float, float]:
    """How many times as fast the machine was on the new side as on the old, at least and at most.

    By each reading of its speed: of computing and of copying, before and after a measurement.
    """
    factors = []
    for names in SPEEDS:
        before, after = _readings(old, names), _readings(new, names)
        if len(before) == len(after) == len(names):
            factors += [min(after) / max(before), max(after) / min(before)]
    return (min(factors), max(factors)) if factors else AS_FAST


def _readings(metrics: Metrics, names: Sequence[str]) -> list[float]:
    found = map(metrics.get, names)
    return [float(value) for value in found if isinstance(value, int | float) and value > 0]


def mark(name: str, old: Value, new: Value, speed: tuple[float, float] = AS_FAST) -> str:
    """What a metric's change from `old` to `new` amounts to, on one machine."""
    if not (old.spread and new.spread):
        return NO_INTERVAL if VARIES.search(name) else "changed"
    if _within_noise(old, new):
        return "within noise"
    low, high = _expected(name, old.value, speed)
    same_code = [replace(old, value=value) for value in (low, high)]
    if low <= new.value <= high or any(_within_noise(each, new) for each in same_code):
        return "the machine's"
    if MORE_IS_BETTER.search(name):
        return "better" if new.value > high else "worse"
    if A_TIME.search(name):
        return "better" if new.value < low else "worse"
    return "changed"


def _expected(name: str, old: float, speed: tuple[float, float]) -> tuple[float, float]:
    """What the same code would show on the new side, at least and at most."""
    slowest, fastest = speed
    if A_TIME.search(name):
        return old / fastest, old / slowest
    return (old * slowest, old * fastest) if A_RATE.search(name) else (old, old)


def _within_noise(old: Value, new: Value) -> bool:
    """Whether 0 is in the interval of the difference, or the effect is too small to count."""
    low, high = difference_interval(new.ends, old.ends)
    small = abs(new.value - old.value) <= SMALLEST_EFFECT * abs(old.value)
    return small or low <= 0 <= high


def rows_of(folder: str, old: Metrics, new: Metrics, other_hardware: bool) -> Iterator[Row]:
    """A row for each metric of a stage that differs; its interval stands behind the value."""
    speed, busy = speed_of(old, new), any(map(disturbances_of, (old, new)))
    names = {**old, **new}
    for name in names:
        if any(name in readings for readings in SPEEDS):
            continue  # the machine's own: `speeds` tells of them
        if any(name.endswith(e) and name.removesuffix(e) in names for e in (SPREAD, LOW, HIGH)):
            continue
        before, after = value_of(name, old), value_of(name, new)
        if before.value == after.value:
            continue
        if before.value is None or after.value is None:
            found = "new" if before.value is None else "gone"
        elif other_hardware:
            found = "other hardware"
        else:
            found = mark(name, before, after, speed)
            if busy and OF_TIMES.search(name) and found in (*JUDGED, "changed"):
                found = "busy machine"
        yield Row(folder, name, str(before), str(after), found, _size(before, after))


def _size(old: Value, new: Value) -> float:
    if not all(isinstance(side.value, int | float) for side in (old, new)):
        return 0.0
    return float(abs(new.value - old.value) / max(abs(old.value), abs(new.value)))


def speeds(old: Mapping[str, Metrics], new: Mapping[str, Metrics]) -> list[str]:
    """A line on how fast the machine was on each side, by the medians over the stages' readings.

    Only of stages that were measured anew: the same readings on both sides are one measurement.
    """
    shown = []
    for names, what, unit in zip(SPEEDS, ("product", "copy"), ("GFLOP/s", "GB/s"), strict=True):
        before, after = [], []
        for folder in old.keys() & new.keys():
            readings = [_readings(side[folder], names) for side in (old, new)]
            if readings[0] != readings[1]:
                before += readings[0]
                after += readings[1]
        if before and after:
            medians = summarise(before).median, summarise(after).median
            shown.append(f"{what} {medians[0]:.4g} -> {medians[1]:.4g} {unit}")
    return [f"the machine itself: {', '.join(shown)}"] if shown else []


def compare(old: Side, new: Side, most: int = MOST_OF_A_KIND) -> tuple[list[str], list[Row]]:
    """Lines on what else differs, at most so many of a kind, and the rows of all metrics."""
    both = [folder for folder in new.metrics if folder in old.metrics]
    elsewhere = [folder for folder in both if old.machines[folder] != new.machines[folder]]
    params = [f"{PARAMS_FILE}: {each}" for each in _changes(old.params, new.params)]
    lines = _first(params if old.params else [], most)
    for what, found in (
        ("hardware", _changes(dict(leaves(old.hardware)), dict(leaves(new.hardware)))),
        ("other hardware on the two sides, so nothing is judged", elsewhere),
        ("verdicts", _turned(old.verdicts, new.verdicts)),
    ):
        if found:
            lines.append(f"{what}: {', '.join(_first(found, most))}")
    rows = [
        row
        for folder in both
        for row in rows_of(folder, old.metrics[folder], new.metrics[folder], folder in elsewhere)
    ]
    lines += speeds(old.metrics, new.metrics)
    return lines, sorted(rows, key=lambda row: (row.mark not in JUDGED, -row.size))


def _changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    keys = {**old, **new}
    return [f"{k}: {old.get(k)} -> {new.get(k)}" for k in keys if old.get(k) != new.get(k)]


def _turned(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """The verdicts on claims of both sides that differ, those that contradict each other first."""
    found = _changes({k: old[k] for k in old if k in new}, {k: new[k] for k in new if k in old})
    return sorted(found, key=lambda each: not each.endswith(CONTRADICTIONS))


def _first(found: Sequence[str], most: int) -> list[str]:
    left = len(found) - most
    return [*found[:most], *([f"and {left} more"] if left > 0 else [])]


def side_in(project: Path) -> Side:
    """The results and params that lie in a folder.

    Raises:
        DataError: a file of the results is damaged.
        ParamsError: params.yaml is damaged.
    """
    reports, claims = project / REPORTS, project / CLAIMS
    metrics, facts = metrics_on_disk(reports), project / HARDWARE_FILE
    hardware = read_hardware(facts) if facts.is_file() else {}
    return Side(
        metrics,
        {f: read_conditions(reports / f).get("machine") or hardware for f in metrics},
        hardware,
        _verdicts(read_rows(claims)) if claims.is_file() else {},
        dict(leaves(read_yaml(project / PARAMS_FILE))),
    )


def _verdicts(claims: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    return {str(row.get("id")): str(row.get("verdict")) for row in claims}


def side_of_commit(rev: str) -> Side:
    """The results and params of a commit, a tag or one of DVC's experiments.

    Raises:
        ParamsError: no such commit, or it has no results.
        MachineError: git does not work here.
        DataError: its results are of another form than today's.
    """
    _check_git()
    found = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{rev}^{{commit}}")
    found = found or _git("for-each-ref", "--format=%(objectname)", f"refs/exps/*/*/{rev}")
    commit = found.decode().strip()
    archive = commit and _git("archive", commit, "--", PARAMS_FILE.as_posix(), REPORTS.as_posix())
    if not archive:
        raise ParamsError(
            f"{rev}: no commit with {PARAMS_FILE} and {REPORTS}/; name one of this repository"
        )
    with TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(folder, filter="data")
        try:
            return side_in(Path(folder))
        except DataError as error:
            raise DataError(str(error).replace(f"{folder}/", f"{rev}:")) from None


def _check_git() -> None:
    """Raise MachineError, in git's own words, where it does not work: it may be another user's."""
    try:
        subprocess.run(["git", "rev-parse"], capture_output=True, text=True, check=True)
    except FileNotFoundError:
        raise MachineError("git is not installed; `sudo apt install git`") from None
    except subprocess.CalledProcessError as error:
        raise MachineError(" ".join(error.stderr.split())) from None


def _git(*words: str) -> bytes:
    """What a git command prints; nothing if it fails."""
    ended = subprocess.run(["git", *words], capture_output=True, check=False)
    return b"" if ended.returncode else ended.stdout


def side_of_reference(name: str) -> tuple[Side, str]:
    """A reference's results, and its profile in words.

    Raises:
        ParamsError: there is no `reports/reference/NAME.json`.
        DataError: it is damaged.
    """
    path = path_of(name)
    if not path.is_file():
        known = instead_of(name, [found.stem for found in REFERENCE.glob("*.json")])
        raise ParamsError(f"{path}: no such reference; {known}; `invoke snapshot` makes one")
    reference = read_reference(path)
    metrics, hardware = metrics_of(reference), reference["hardware"]
    verdicts = _verdicts(reference.get("claims", []))
    profile = reference["profile"]
    return (
        Side(metrics, dict.fromkeys(metrics, hardware), hardware, verdicts),
        profile if profile == OWN_PARAMS else f"the profile {profile}",
    )


def compared_names() -> set[tuple[str, str]]:
    """The folder and the name of each number that its stage wants compared."""
    return {
        (path.parent.relative_to(REPORTS).as_posix(), name)
        for path in REPORTS.rglob(METRICS)
        for name in read_json(path)
    }


def in_short(
    rows: Sequence[Row], compared: Collection[tuple[str, str]], most: int
) -> tuple[list[Row], str]:
    """The rows of compared numbers that changed, at most so many, and the others counted."""
    shown = [
        row for row in rows if (row.folder, row.metric) in compared and row.mark not in NO_CHANGE
    ][:most]
    left = Counter(
        row.mark if (row.folder, row.metric) in compared else "of conditions"
        for row in rows
        if row not in shown
    )
    counts = ", ".join(f"{n} {found}" for found, n in left.most_common())
    return shown, f"besides: {counts} (`invoke compare --all`)" if counts else ""


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


def report(
    lines: Sequence[str], rows: Sequence[Row], other: str, note: str, md: bool
) -> Iterator[str]:
    """What is printed: lines on what else differs, the table, and what its marks do not say."""
    yield from (f"- {in_markdown(line)}" if md else line for line in lines)
    if rows:
        cells = [("results of", "metric", other, "workspace", ""), *(row[:5] for row in rows)]
        if md:
            yield ""  # a list ends before a table begins
        yield from markdown(cells) if md else aligned(cells)
        if md:
            yield ""
    if any(row.mark == NO_INTERVAL for row in rows):
        yield (
            f"{NO_INTERVAL}: of one run or one seed, from which the next may differ as much"
            " (`python -m bench.accuracy_bands 8` shows how far seeds do)"
        )
    if note:
        yield note


def main() -> None:
    """Print what differs: params, hardware, verdicts, and metrics with what a change amounts to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rev", nargs="?", default="HEAD")
    parser.add_argument(
        "--reference", default="", help="compare with reports/reference/NAME.json instead"
    )
    parser.add_argument("--md", action="store_true", help="as Markdown")
    parser.add_argument("--all", action="store_true", help="everything that differs")
    arguments = parser.parse_args()
    md, name = arguments.md, arguments.reference
    here, about = side_in(Path()), []  # first: what is damaged here is said
    if name:
        other, profile = side_of_reference(name)
        about = [f"{name} was measured with {profile}"]
    else:
        other = side_of_commit(arguments.rev)
    if arguments.all:
        lines, rows = compare(other, here, most=sys.maxsize)
        note = ""
    else:
        lines, rows = compare(other, here)
        most = MOST_LINES - len(about + lines) - (6 if md else 3)  # beside the rows
        rows, note = in_short(rows, compared_names(), most)
    text = list(report(about + lines, rows, name or arguments.rev, note, md))
    shown = "\n".join(text) or f"nothing differs from {name or arguments.rev}"
    print("".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in shown))


if __name__ == "__main__":
    sys.exit(run(main))
