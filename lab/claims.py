"""Claims of the notes as rules in code: what is read, the number it gives, and the range in which the claim holds.

A claim is decided by one number with its interval, an `Estimate`, against the range its words ask for: confirmed
if the whole interval lies within, refuted if the whole of it lies outside, else inconclusive. What cannot be
decided, since a number is missing, damaged, of synthetic data or of another kind of device, is `not testable here`,
with the reason and the command that measures it; it is never an error and never a pass.

The entries are in `lab/ledger.py`. Their rules are pure functions of what the stages left in reports/.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

from lab.measurements import SKIPPED
from lab.stats import SMALLEST_EFFECT, median_ratio
from lab.stats import speedup as paired_speedup
from lab.words import language

CPU = "cpu"  # what stages that name no device_kind compute on, whatever devices there are
GPU_KINDS = ("cuda", "cuda-shared")
DEVICE_KINDS = (CPU, "cpu-virtual", *GPU_KINDS)


class Verdict(StrEnum):
    """What a machine can say of a claim."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    INCONCLUSIVE = "inconclusive"
    NOT_TESTABLE = "not testable here"


class NotTestableError(Exception):
    """A rule cannot be decided from what was measured; the message says why, and what would help."""


@dataclass(frozen=True)
class Text:
    """A sentence in English and in Chinese."""

    en: str
    zh: str

    @property
    def here(self) -> str:
        """The sentence in the language that is spoken."""
        return self.zh if language() == "zh" else self.en


# --- what rules read ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Metric:
    """A value of a metrics.json. `folder` is the stage's under reports, `train/<run>` for a training run."""

    folder: str
    name: str


@dataclass(frozen=True)
class Column:
    """The numbers in a column of a rows.csv, of the rows whose cells match `where` (with `*` for any text)."""

    folder: str
    name: str
    where: Mapping[str, str] = field(default_factory=dict)

    def matches(self, row: Mapping[str, Any]) -> bool:
        """Whether a row belongs to it."""
        return all(fnmatchcase(str(row.get(key)), pattern) for key, pattern in self.where.items())


Read = Metric | Column


@dataclass(frozen=True)
class Evidence:
    """What the stages left, by their folders under reports: metrics.json as an object, rows.csv as rows."""

    metrics: Mapping[str, Mapping[str, Any]]
    rows: Mapping[str, Sequence[Mapping[str, Any]]]

    def value(self, metric: Metric) -> Any:
        """Return a metric as it is.

        Raises:
            NotTestableError: it is missing.
        """
        found = self.metrics.get(metric.folder, {}).get(metric.name)
        if found is None:
            raise NotTestableError(f"no {metric.name} in reports/{metric.folder}/metrics.json; {_remedy(metric)}")
        return found

    def read(self, read: Read) -> float | tuple[float, ...]:
        """Return a metric's finite number, or a column's, in the order of the rows.

        Raises:
            NotTestableError: something is missing, was skipped, or is no finite number.
        """
        if isinstance(read, Metric):
            found = self.value(read)
            if not _is_number(found):
                raise NotTestableError(
                    f"{read.name} in reports/{read.folder}/metrics.json is {found!r}, no finite number;"
                    f" {_remedy(read)}"
                )
            return float(found)
        rows = [row for row in self.rows.get(read.folder, ()) if read.matches(row)]
        for row in rows:
            remark = str(row.get("remark", ""))
            if remark.startswith(SKIPPED):
                raise NotTestableError(f"stage {_stage(read)} skipped it: {remark.removeprefix(SKIPPED)}")
        values = [row.get(read.name) for row in rows]
        if not values or not all(_is_number(value) for value in values):
            wanted = ", ".join(f"{key} {pattern}" for key, pattern in read.where.items())
            raise NotTestableError(
                f"no numbers in column {read.name} ({wanted or 'all rows'}) of reports/{read.folder}/rows.csv;"
                f" {_remedy(read)}"
            )
        return tuple(float(value) for value in values if value is not None)


def _is_number(value: object) -> bool:
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # an integer that no float can hold
        return False


def _stage(read: Read) -> str:
    return read.folder.split("/")[0]


def _remedy(read: Read) -> str:
    return f"`dvc repro {read.folder.replace('/', '@')}` measures it"


# --- what rules say -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Estimate:
    """A number with the interval that holds it; without one, `low` and `high` are the value itself."""

    value: float
    low: float
    high: float

    @property
    def exact(self) -> bool:
        """Whether there is no interval."""
        return self.low == self.high

    def consistent(self) -> bool:
        """Whether the numbers are finite and the interval holds the value."""
        return all(map(math.isfinite, (self.value, self.low, self.high))) and self.low <= self.value <= self.high


@dataclass(frozen=True)
class Range:
    """The numbers for which a claim holds, both ends included."""

    low: float = -math.inf
    high: float = math.inf

    @property
    def words(self) -> Text:
        """The range in words."""
        if math.isinf(self.high):
            return Text(f"at least {self.low:g}", f"至少 {self.low:g}")
        if math.isinf(self.low):
            return Text(f"at most {self.high:g}", f"至多 {self.high:g}")
        if self.low == self.high:
            return Text(f"exactly {self.low:g}", f"恰为 {self.low:g}")
        return Text(f"{self.low:.4g} to {self.high:.4g}", f"{self.low:.4g} 至 {self.high:.4g}")


def at_least(low: float) -> Range:
    """Return the range from `low` up."""
    return Range(low=low)


def at_most(high: float) -> Range:
    """Return the range up to `high`."""
    return Range(high=high)


def near(target: float, tolerance: float) -> Range:
    """Return the range around a target."""
    return Range(target - tolerance, target + tolerance)


FASTER = at_least(1 + SMALLEST_EFFECT)  # of a speed-up: what lies within 2 % of 1 is none, however sure


def decide(estimate: Estimate, holds: Range) -> Verdict:
    """Return the verdict of an interval on a range: within, outside, or across one of its ends."""
    if holds.low <= estimate.low and estimate.high <= holds.high:
        return Verdict.CONFIRMED
    if estimate.high < holds.low or estimate.low > holds.high:
        return Verdict.REFUTED
    return Verdict.INCONCLUSIVE


@dataclass(frozen=True)
class Rule:
    """How a claim is decided.

    `estimate` gets what `reads` names, in that order: a float for a metric, a tuple of floats for a column. It
    returns the number with its interval in `unit`, and raises NotTestableError where the numbers do not answer the
    question.
    """

    reads: Sequence[Read]
    estimate: Callable[..., Estimate]
    holds: Range
    unit: Text


# --- the common shapes ----------------------------------------------------------------------------------------

AS_FAST, AS_LONG = Text("x as fast", "倍速度"), Text("x as long", "倍用时")
POINTS = Text("points", "个百分点")


def value(metric: Metric, holds: Range, unit: Text) -> Rule:
    """Return the rule of one number without an interval: deterministic, or one run."""
    return Rule([metric], point, holds, unit)


def ratio(folder: str, name: str, holds: Range, unit: Text = AS_FAST) -> Rule:
    """Return the rule of a ratio that the stage wrote with the two ends of its 99 % interval."""
    return Rule([Metric(folder, f"{name}{end}") for end in ("", "_low", "_high")], Estimate, holds, unit)


def samples(column: Column, holds: Range, unit: Text) -> Rule:
    """Return the rule of the median of samples, with the sign test's 99 % interval."""
    return Rule([column], median, holds, unit)


def speedup(old: Column, new: Column, holds: Range, unit: Text = AS_FAST) -> Rule:
    """Return the rule of old / new, paired by their order in the rows, with the sign test's 99 % interval."""
    return Rule([old, new], times_ratio, holds, unit)


def point(number: float) -> Estimate:
    """Return a number without an interval."""
    return Estimate(number, number, number)


def median(numbers: Sequence[float]) -> Estimate:
    """Return the median with the sign test's interval, of any numbers."""
    found = median_ratio(numbers)
    return Estimate(found.median, found.low, found.high)


def times_ratio(old: Sequence[float], new: Sequence[float]) -> Estimate:
    """Return the median of old[i] / new[i] with the sign test's interval; ValueError if they are no times."""
    found = paired_speedup(old, new)
    return Estimate(found.median, found.low, found.high)


def band_ratio(
    median: float, low: float, high: float, other_median: float, other_low: float, other_high: float
) -> Estimate:
    """Return median / other_median, from the bands of the middle halves of the seeds.

    The middle half of 20 seeds holds their median with 99 % confidence (sign test), so the interval, one band's low
    end over the other's high end and the reverse, errs on the side of `inconclusive`.
    """
    return Estimate(median / other_median, low / other_high, high / other_low)


# --- what a machine, its data and its settings must be ----------------------------------------------------------


@dataclass(frozen=True)
class Need:
    """What a stage must have run on for a claim to be testable: `metric` is one of `accepted`."""

    label: Text
    metric: Metric
    accepted: tuple[str | float, ...]
    remedy: str

    def check(self, evidence: Evidence) -> None:
        """Raise NotTestableError unless the need is met."""
        found = evidence.value(self.metric)
        if isinstance(found, bool) or found not in self.accepted:
            raise NotTestableError(
                f"needs {self.label.en}: {self.metric.name} of {self.metric.folder} is {found!r}; {self.remedy}"
            )


A_GPU, TWO_GPUS, OWN_DEVICES = (
    Text("a GPU", "一块 GPU"), Text("2 GPUs", "两块 GPU"), Text("a device for each job", "各任务自己的设备")
)  # fmt: skip
REAL_DATA, WORKLOAD = Text("real data", "真实数据"), Text("the notes' workload", "笔记的训练规模")


def on_gpu(folder: str) -> tuple[Need, ...]:
    """Return what a claim about GPUs needs: virtual devices never confirm it."""
    return (Need(A_GPU, Metric(folder, "device_kind"), GPU_KINDS, f"run stage {folder} on a machine with one"),)


def on_two_gpus(folder: str) -> tuple[Need, ...]:
    """Return what a claim about several GPUs needs."""
    remedy = "measure on a machine with two"
    return (
        Need(TWO_GPUS, Metric(folder, "device_kind"), ("cuda",), remedy),
        Need(TWO_GPUS, Metric(folder, "num_devices"), (2,), remedy),
    )


def on_own_devices(folder: str) -> tuple[Need, ...]:
    """Return what a claim about several devices of any kind needs: streams of one GPU are one device."""
    kinds = ("cuda", "cpu-virtual")
    return (Need(OWN_DEVICES, Metric(folder, "device_kind"), kinds, "measure on a machine with two GPUs or none"),)


def real_images(folder: str) -> tuple[Need, ...]:
    """Return what a claim about accuracy needs: look-alikes of Fashion-MNIST say nothing about it."""
    return (Need(REAL_DATA, Metric(folder, "dataset"), ("fashion-mnist",), "`invoke remeasure --stage fetch`"),)


def real_airfoil() -> tuple[Need, ...]:
    """Return what a claim about losses on the airfoil table needs."""
    return (Need(REAL_DATA, Metric("optimizers", "airfoil"), ("original",), "`invoke remeasure --stage fetch`"),)


def as_in_the_notes(run: str, **settings: str | float) -> tuple[Need, ...]:
    """Return the settings that a training run must have had; the profile `full` has the notes'."""
    return tuple(
        Need(WORKLOAD, Metric(f"train/{run}", name), (wanted,), "the profile `full` trains as the notes do")
        for name, wanted in settings.items()
    )


# --- claims and their verdicts --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Claim:
    """One sentence of the notes that asserts something.

    Attributes:
        id: the inventory's letter and number, with a letter of its own where a demo makes several claims.
        section: the book's.
        note: which of the five source notes make it.
        says: the claim, in our own words.
        measured: what is measured for it.
        rule: how it is decided.
        tolerance: why the rule's range is what it is.
        needs: what must be so for it to be testable; nothing: any machine will do.
    """

    id: str
    section: str
    note: str
    says: Text
    measured: Text
    rule: Rule
    tolerance: str
    needs: tuple[Need, ...] = ()

    @property
    def reads(self) -> tuple[Read, ...]:
        """Return all that its verdict depends on."""
        return (*self.rule.reads, *(need.metric for need in self.needs))

    @property
    def folder(self) -> str:
        """Return the folder under reports that it is decided from."""
        return self.rule.reads[0].folder

    @property
    def stage(self) -> str:
        """Return the stage that measures it."""
        return _stage(self.rule.reads[0])

    @property
    def wants(self) -> tuple[Text, ...]:
        """Return what it needs, in words, each once."""
        return tuple(dict.fromkeys(need.label for need in self.needs))


@dataclass(frozen=True)
class Finding:
    """A claim's verdict on this machine; no estimate where it is not testable."""

    claim: Claim
    verdict: Verdict
    estimate: Estimate | None
    device_kind: str
    reason: str


def judge(claim: Claim, evidence: Evidence) -> Finding:
    """Return the verdict on a claim. It raises nothing, whatever the stages left."""
    kind = evidence.metrics.get(claim.folder, {}).get("device_kind", CPU)
    if kind not in DEVICE_KINDS:
        foreign = f"device_kind of {claim.folder} is {kind!r}, none of {', '.join(DEVICE_KINDS)}"
        return Finding(claim, Verdict.NOT_TESTABLE, None, "unknown", foreign)
    try:
        for need in claim.needs:
            need.check(evidence)
        estimate = claim.rule.estimate(*[evidence.read(read) for read in claim.rule.reads])
        if not estimate.consistent():
            raise NotTestableError(f"{estimate} is no number within its interval")
    except NotTestableError as reason:
        return Finding(claim, Verdict.NOT_TESTABLE, None, kind, str(reason))
    except (ArithmeticError, ValueError, IndexError) as error:
        misfit = f"the numbers of stage {claim.stage} do not fit together ({error})"
        return Finding(claim, Verdict.NOT_TESTABLE, None, kind, misfit)
    verdict = decide(estimate, claim.rule.holds)
    return Finding(claim, verdict, estimate, kind, f"holds for {claim.rule.holds.words.en} {claim.rule.unit.en}")


def rows_of(findings: Sequence[Finding]) -> list[dict[str, float | str]]:
    """Return one row per finding; a number that does not exist is an empty cell."""

    def numbers(estimate: Estimate | None) -> list[float | str]:
        if estimate is None:
            return ["", "", ""]
        shown = [float(f"{n:.6g}") for n in (estimate.value, estimate.low, estimate.high)]
        return [shown[0], "", ""] if estimate.exact else [*shown]

    return [
        {
            "id": f.claim.id, "section": f.claim.section, "note": f.claim.note, "verdict": f.verdict.value,
            **dict(zip(("effect", "low", "high"), numbers(f.estimate), strict=True)),
            "unit": f.claim.rule.unit.en, "device_kind": f.device_kind, "stage": f.claim.stage, "reason": f.reason,
        }
        for f in findings
    ]  # fmt: skip


def findings_of(rows: Sequence[Mapping[str, Any]], ledger: Sequence[Claim]) -> list[Finding]:
    """Return the findings that rows hold of the claims in `ledger`; the inverse of `rows_of`, to six digits."""
    claims = {claim.id: claim for claim in ledger}

    def estimate(row: Mapping[str, Any]) -> Estimate | None:
        if row["effect"] == "":
            return None
        return point(row["effect"]) if row["low"] == "" else Estimate(row["effect"], row["low"], row["high"])

    return [
        Finding(claims[row["id"]], Verdict(row["verdict"]), estimate(row), row["device_kind"], row["reason"])
        for row in rows
        if row["id"] in claims
    ]


def surprise(finding: Finding) -> float:
    """Return how far a refuted claim lies from what was measured, on a log scale; 0 for any other verdict.

    The natural logarithm of the factor between the value and the nearest number for which the claim would hold.
    Where one of them is not positive there is no factor: then of 1 + their distance in units of that number, or in
    the rule's own unit where the number is 0.
    """
    if finding.verdict is not Verdict.REFUTED or finding.estimate is None:
        return 0.0
    found, holds = finding.estimate.value, finding.claim.rule.holds
    bound = min(max(found, holds.low), holds.high)
    if found > 0 < bound:
        return abs(math.log(found / bound))
    return math.log1p(abs(found - bound) / (abs(bound) or 1))


def most_surprising(findings: Sequence[Finding], count: int) -> list[Finding]:
    """Return the refuted claims that lie furthest off, the furthest first, one of each stage at most."""
    furthest: dict[str, Finding] = {}
    for finding in sorted(findings, key=surprise, reverse=True):
        if finding.verdict is Verdict.REFUTED:
            furthest.setdefault(finding.claim.stage, finding)
    return list(furthest.values())[:count]
