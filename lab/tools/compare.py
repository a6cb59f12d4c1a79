"""Compare the results here with a commit's or a reference machine's: which changes are real?

lab/results/diff.py judges each change. Findings that are better or worse come first, then metrics
that changed in other ways; `--all` shows the rest, `--stage` everything of one stage.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from tabulate import tabulate

from lab.core.errors import ParamsError, instead_of
from lab.core.params import PARAMS_FILE
from lab.report.language import in_markdown
from lab.results.derived import derivation_of
from lab.results.diff import CHANGED, JUDGED, TOO_FEW, Change, Taken, diff, in_a_cell
from lab.results.disturbances import SPEEDS, readings
from lab.results.findings import POINTS, Over
from lab.results.stats import difference_interval, summarise
from lab.tools.profiles import leaves
from lab.tools.sides import Side, side_in, side_of_commit, side_of_reference

IN_METRICS = (CHANGED, TOO_FEW)  # marks that are shown for metrics only
MOST_OF_A_KIND = 5  # params, facts, stages or verdicts listed without `--all`
CONTRADICTIONS = ("confirmed -> refuted", "refuted -> confirmed")
SAME = "the same"
SETTINGS = ("dataset", "device_kind")  # conditions that neither params nor hardware contain


class ComparedFinding(NamedTuple):
    """A finding of a stage or run that differs between the two sides."""

    folder: str
    change: Change

    @property
    def cells(self) -> tuple[str, ...]:
        name, old, new, _ = self.change
        return self.folder, name, in_a_cell(old), in_a_cell(new), amount(self.change)


def amount(change: Change) -> str:
    """Return the change in words, such as "better by 0.9 points (0.5 to 1.2)"."""
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
    """Return a line on the machine's own speed on each side: medians over the stages' readings.

    Stages with the same readings on both sides were measured only once and do not count.
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


def differences(old: Side, new: Side, in_full: bool) -> list[str]:
    """Return what else differs besides the findings, one line for each kind."""
    both = {f: (old.taken[f], taken) for f, taken in new.taken.items() if f in old.taken}
    settings = [
        f"{folder}.{each}"
        for folder, sides in both.items()
        for each in _changes(*({key: s.conditions.get(key) for key in SETTINGS} for s in sides))
    ]
    elsewhere = [folder for folder, (one, other) in both.items() if one.machine != other.machine]
    found = {
        PARAMS_FILE.name: _changes(old.params, new.params) if old.params else [],
        "hardware": _changes(dict(leaves(old.hardware)), dict(leaves(new.hardware))),
        "other hardware on the two sides, so nothing is judged": elsewhere,
        "data and devices": settings,
        "verdicts": _turned(old.verdicts, new.verdicts),
    }
    lines = []
    for what, changes in found.items():
        named = changes if in_full else changes[:MOST_OF_A_KIND]
        more = [f"and {len(changes) - len(named)} more"] if len(changes) > len(named) else []
        if changes:
            lines.append(f"{what}: {', '.join([*named, *more])}")
    return lines + speeds(old.taken, new.taken)


def changed(old: Side, new: Side) -> list[ComparedFinding]:
    """Return the findings that differ, the better or worse ones first."""
    rows = [row for folder in new.taken if folder in old.taken for row in _rows(folder, old, new)]
    return sorted(rows, key=lambda row: (row.change.mark not in JUDGED, -row.change.size))


def _rows(folder: str, old: Side, new: Side) -> Iterator[ComparedFinding]:
    """Yield a stage's findings that differ; times for different image counts are not judged."""
    before, after = (_images(side, folder) for side in (old, new))
    for change in diff(old.taken[folder], new.taken[folder]):
        found = change.old or change.new
        if before and after and before != after and found and (found.is_time or found.is_rate):
            change = change._replace(mark=f"not comparable: {before:,} and {after:,} images")
        yield ComparedFinding(folder, change)


def _images(side: Side, folder: str) -> int | None:
    """Return how many images a stage or run trains on; None if it does not say."""
    key = "train_images"
    return side.taken[folder].conditions.get(key) or side.params.get(f"{folder}.{key}")


def _changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    pairs = ((key, old.get(key), new.get(key)) for key in {**old, **new})
    return [f"{key}: {before} -> {after}" for key, before, after in pairs if before != after]


def _turned(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """Return the verdicts that differ, for claims of both sides, contradictions first."""
    found = _changes({k: old[k] for k in old if k in new}, {k: new[k] for k in new if k in old})
    return sorted(found, key=lambda each: not each.endswith(CONTRADICTIONS))


def of_stage(stage: str, side: Side) -> Side:
    """Return the side with the results of only one stage, or of one run (train@NAME).

    Raises:
        ParamsError: there are no such results.
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
    for folder in new.taken.keys() & old.taken.keys():
        differ = {change.name for change in diff(old.taken[folder], new.taken[folder])}
        for name, found in new.taken[folder].findings.items():
            if found and name not in differ:
                yield ComparedFinding(folder, Change(name, found, found, SAME))


def counts_here(row: ComparedFinding) -> bool:
    """Return whether a row is shown without `--all`."""
    return row.change.mark in JUDGED or (row.change.mark in IN_METRICS and is_metric(row))


def is_metric(row: ComparedFinding) -> bool:
    """Return whether the finding is one of the few in its stage's metrics.json."""
    derivation = derivation_of(row.folder.split("/")[0])
    return derivation is not None and row.change.name in derivation.METRICS


def notes(shown: Sequence[ComparedFinding], left: Sequence[ComparedFinding]) -> Iterator[str]:
    """Yield an explanation of "too few samples", and the count of omitted rows by mark."""
    few = [row.change.new for row in shown if row.change.mark == TOO_FEW]
    if few:
        of_seeds = any(found and found.over is Over.SEEDS for found in few)
        more = "; `seeds: 8` of a run in params.yaml trains more" if of_seeds else ""
        yield f"{TOO_FEW}: of one run or one seed, from which the next may differ as much{more}"
    if left:
        counts = Counter(row.change.mark for row in left).most_common()
        yield f"besides: {', '.join(f'{n} {mark}' for mark, n in counts)} (`--all` shows them)"


def show(
    rev: str = "HEAD", reference: str = "", md: bool = False, in_full: bool = False, stage: str = ""
) -> None:
    """Print what differs: params, hardware, verdicts, and findings with the size of the change.

    Args:
        rev: the commit to compare with.
        reference: the name of a reference to compare with instead.
        md: print Markdown.
        in_full: print everything that differs.
        stage: a stage, or a run as train@NAME: print all its findings, also unchanged ones.
    """
    here, lines = side_in(Path()), []  # first, so that damage here is reported
    if stage:
        here = of_stage(stage, here)
    if reference:
        other, profile = side_of_reference(reference)
        lines = [f"{reference} was measured with {profile}"]
    else:
        other = side_of_commit(rev)
        if lacking := [folder.removeprefix("train/") for folder in here.taken.keys() - other.taken]:
            names = ", ".join(sorted(lacking))
            lines = [f"{rev} has no {names}: commit it, or compare with an experiment, --rev NAME"]
    lines += differences(other, here, in_full)
    rows = changed(other, here)
    shown = rows if in_full or stage else [row for row in rows if counts_here(row)]
    left = [row for row in rows if row not in shown]
    if stage:
        shown = [*shown, *unchanged(other, here)]
    escape = in_markdown if md else str
    table = tabulate(
        [list(map(escape, row.cells)) for row in shown],
        ["results of", "finding", escape(reference or rev), "workspace", ""],
        "github" if md else "plain",
        disable_numparse=True,
    )
    text = [
        *(f"- {escape(line)}" if md else line for line in lines),
        *(["", table, ""] if shown and md else [table] if shown else []),
        *notes(shown, left),
    ]
    printed = "\n".join(text) or f"nothing differs from {reference or rev}"
    # escape control characters: a reference or commit may come from a stranger
    print("".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in printed))
