"""Compare the results here with a commit's or a reference machine's: which changes are real?

What a change amounts to is lab/results/diff.py's business. What counts most comes first, in 25
lines; `--all` shows the rest, `--stage` each finding of one stage.
"""

import io
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from lab.claims.verdicts import judge_all
from lab.core.errors import DataError, MachineError, ParamsError, instead_of
from lab.core.files import HARDWARE_FILE, REPORTS
from lab.core.params import PARAMS_FILE, read_yaml
from lab.report.language import in_markdown
from lab.results.derived import derivation_of, taken_under
from lab.results.diff import JUDGED, NO_CHANGE, TOO_FEW, Change, Taken, diff, in_a_cell
from lab.results.disturbances import SPEEDS, readings
from lab.results.documents import read_hardware
from lab.results.findings import POINTS, Over
from lab.results.stats import difference_interval, summarise
from lab.tools.profiles import OWN_PARAMS, leaves
from lab.tools.references import REFERENCE, path_of, read_reference, taken_of

MOST_LINES = 25  # that are printed, unless all are asked for
MOST_OF_A_KIND = 5  # params, facts, stages or verdicts that are named, likewise
CONTRADICTIONS = ("confirmed -> refuted", "refuted -> confirmed")
SAME = "the same"
SETTINGS = ("dataset", "device_kind")  # conditions that neither params nor hardware tell


@dataclass(frozen=True)
class Side:
    """Results to be compared.

    Attributes:
        taken: by folder under reports: a stage's, or `train/<run>`.
        hardware: the facts of the machine in use.
        params: by dotted key.
    """

    taken: Mapping[str, Taken]
    hardware: Mapping[str, Any]
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def verdicts(self) -> dict[str, str]:
        """By claim, of those about what was measured."""
        judged = judge_all(self.taken)
        return {f.claim.id: f.verdict.value for f in judged if f.claim.stage in self.taken}


class ComparedFinding(NamedTuple):
    """A finding of a stage or run that differs."""

    folder: str
    change: Change

    @property
    def cells(self) -> tuple[str, ...]:
        """Its cells in the table."""
        name, old, new, _ = self.change
        return self.folder, name, in_a_cell(old), in_a_cell(new), amount(self.change)


def amount(change: Change) -> str:
    """Return what a change amounts to: better by 0.9 points (0.5 to 1.2)."""
    _, old, new, mark = change
    if mark not in JUDGED or old is None or new is None or old.exact or "times" in old.unit:
        return mark
    sides = [(each.value, each.low, each.high) for each in (new, old)]
    by, low, high = new.value - old.value, *difference_interval(*sides)
    if by < 0:
        by, low, high = -by, -high, -low
    unit = POINTS if old.unit.startswith("%") else old.unit
    return f"{mark} by {by:.2g} {unit}".rstrip() + f" ({low:.2g} to {high:.2g})"


def speeds(old: Mapping[str, Taken], new: Mapping[str, Taken]) -> list[str]:
    """A line on how fast the machine was on each side, by the medians over the stages' readings.

    Only of stages that were measured anew: the same readings on both sides are one measurement.
    """
    shown = []
    for (unit, names), what in zip(SPEEDS.items(), ("product", "copy"), strict=True):
        before, after = [], []
        for folder in old.keys() & new.keys():
            found = [readings(side[folder].conditions, names) for side in (old, new)]
            if found[0] != found[1]:
                before += found[0]
                after += found[1]
        if before and after:
            medians = summarise(before).median, summarise(after).median
            shown.append(f"{what} {medians[0]:.4g} -> {medians[1]:.4g} {unit}")
    return [f"the machine itself: {', '.join(shown)}"] if shown else []


def compare(
    old: Side, new: Side, most: int = MOST_OF_A_KIND
) -> tuple[list[str], list[ComparedFinding]]:
    """Lines on what else differs, at most so many of a kind, and the rows of all findings."""
    both = {f: (old.taken[f], taken) for f, taken in new.taken.items() if f in old.taken}
    elsewhere = [folder for folder, (one, other) in both.items() if one.machine != other.machine]
    params = [f"{PARAMS_FILE}: {each}" for each in _changes(old.params, new.params)]
    lines = _first(params if old.params else [], most)
    for what, found in (
        ("hardware", _changes(dict(leaves(old.hardware)), dict(leaves(new.hardware)))),
        ("other hardware on the two sides, so nothing is judged", elsewhere),
        (
            "data and devices",
            [each for folder, sides in both.items() for each in _settings(folder, *sides)],
        ),
        ("verdicts", _turned(old.verdicts, new.verdicts)),
    ):
        if found:
            lines.append(f"{what}: {', '.join(_first(found, most))}")
    rows = [row for folder in both for row in _rows(folder, old, new)]
    lines += speeds(old.taken, new.taken)
    return lines, sorted(rows, key=lambda row: (row.change.mark not in JUDGED, -row.change.size))


def _rows(folder: str, old: Side, new: Side) -> Iterator[ComparedFinding]:
    """The findings of a stage that differ; times of other numbers of images are not judged."""
    before, after = (_images(side, folder) for side in (old, new))
    for change in diff(old.taken[folder], new.taken[folder]):
        found = change.old or change.new
        if before and after and before != after and found and (found.is_time or found.is_rate):
            change = change._replace(mark=f"not comparable: {before:,} and {after:,} images")
        yield ComparedFinding(folder, change)


def _images(side: Side, folder: str) -> int | None:
    """How many images a stage or run trains on; None if it does not say."""
    key = "train_images"
    return side.taken[folder].conditions.get(key) or side.params.get(f"{folder}.{key}")


def _settings(folder: str, old: Taken, new: Taken) -> list[str]:
    """The data and devices of a stage that differ."""
    sides = ({key: side.conditions.get(key) for key in SETTINGS} for side in (old, new))
    return [f"{folder}.{each}" for each in _changes(*sides)]


def changes_of(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Each key whose values differ, with both."""
    for key in {**old, **new}:
        if old.get(key) != new.get(key):
            yield key, old.get(key), new.get(key)


def _changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    return [f"{key}: {before} -> {after}" for key, before, after in changes_of(old, new)]


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
    reports, facts = project / REPORTS, project / HARDWARE_FILE
    hardware = read_hardware(facts) if facts.is_file() else {}
    taken = {
        folder: replace(each, machine=each.machine or hardware)
        for folder, each in taken_under(reports).items()
    }
    return Side(taken, hardware, dict(leaves(read_yaml(project / PARAMS_FILE))))


def side_of_commit(rev: str) -> Side:
    """The results and params of a commit, a tag or one of DVC's experiments.

    Raises:
        ParamsError: no such commit, or it has no results.
        MachineError: git does not work here.
        DataError: its results are of another form than today's.
    """
    check_git()
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


def check_git() -> None:
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
    profile = reference["profile"]
    return (
        Side(taken_of(reference), reference["hardware"]),
        profile if profile == OWN_PARAMS else f"the profile {profile}",
    )


def of_stage(stage: str, side: Side) -> Side:
    """The results of one stage alone, or of a run as train@NAME.

    Raises:
        ParamsError: there are none.
    """
    folders = {folder.replace("/", "@"): folder for folder in side.taken}
    if stage not in folders:
        raise ParamsError(
            f"{stage}: no results of such a stage or run; {instead_of(stage, folders)};"
            " `invoke repro --stage NAME` measures one"
        )
    folder = folders[stage]
    return replace(side, taken={folder: side.taken[folder]})


def unchanged(old: Side, new: Side) -> Iterator[ComparedFinding]:
    """The findings that are the same on both sides."""
    for folder in new.taken.keys() & old.taken.keys():
        differ = {change.name for change in diff(old.taken[folder], new.taken[folder])}
        for name, found in new.taken[folder].findings.items():
            if found and name not in differ:
                yield ComparedFinding(folder, Change(name, found, found, SAME))


def in_short(rows: Sequence[ComparedFinding], most: int) -> tuple[list[ComparedFinding], str]:
    """The rows of metrics that changed, at most so many, and the others counted."""
    shown = [row for row in rows if is_metric(row) and row.change.mark not in NO_CHANGE][:most]
    left = Counter(
        row.change.mark if is_metric(row) else "of other findings"
        for row in rows
        if row not in shown
    )
    counts = ", ".join(f"{n} {found}" for found, n in left.most_common())
    return shown, f"besides: {counts} (`--all` shows them)" if counts else ""


def is_metric(row: ComparedFinding) -> bool:
    """Whether it is one of the few numbers that its stage has in metrics.json."""
    derivation = derivation_of(row.folder.split("/")[0])
    return derivation is not None and row.change.name in derivation.METRICS


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
    lines: Sequence[str], rows: Sequence[ComparedFinding], other: str, note: str, md: bool
) -> Iterator[str]:
    """What is printed: lines on what else differs, the table, and what its marks do not say."""
    yield from (f"- {in_markdown(line)}" if md else line for line in lines)
    if rows:
        cells = [("results of", "finding", other, "workspace", ""), *(row.cells for row in rows)]
        if md:
            yield ""  # a list ends before a table begins
        yield from markdown(cells) if md else aligned(cells)
        if md:
            yield ""
    few = [row.change.new for row in rows if row.change.mark == TOO_FEW]
    if few:
        more = "; `seeds: 8` of a run in params.yaml trains more"
        of_seeds = any(found and found.over is Over.SEEDS for found in few)
        yield (
            f"{TOO_FEW}: of one run or one seed, from which the next may differ as much"
            + (more if of_seeds else "")
        )
    if note:
        yield note


def show(
    rev: str = "HEAD", reference: str = "", md: bool = False, in_full: bool = False, stage: str = ""
) -> None:
    """Print what differs: params, hardware, verdicts, and metrics with what a change amounts to.

    Args:
        rev: the commit to compare with.
        reference: the name of one to compare with instead.
        md: as Markdown.
        in_full: everything that differs.
        stage: all findings of this one, or of a run as train@NAME, also those that are the same.
    """
    here, about = side_in(Path()), []  # first: what is damaged here is said
    if stage:
        here = of_stage(stage, here)
    if reference:
        other, profile = side_of_reference(reference)
        about = [f"{reference} was measured with {profile}"]
    else:
        other = side_of_commit(rev)
        if lacking := [folder.removeprefix("train/") for folder in here.taken.keys() - other.taken]:
            names = ", ".join(sorted(lacking))
            about = [f"{rev} has no {names}: commit it, or compare with an experiment, --rev NAME"]
    lines, rows = compare(other, here, sys.maxsize if in_full else MOST_OF_A_KIND)
    note = ""
    if stage:
        rows += unchanged(other, here)
    elif not in_full:
        most = MOST_LINES - len(about + lines) - (6 if md else 3)  # beside the rows
        rows, note = in_short(rows, most)
    text = list(report(about + lines, rows, reference or rev, note, md))
    shown = "\n".join(text) or f"nothing differs from {reference or rev}"
    print("".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in shown))
