"""Figures and tables of the page on training speed."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from lab.data.datasets import FASHION_COUNTS
from lab.report import figures as style
from lab.report import plots
from lab.report.benchmarks import TITLES
from lab.report.language import say, translation
from lab.report.page import Figure
from lab.report.plots import in_two_lines
from lab.results.findings import Findings
from lab.results.measurements import Measurement, Results
from lab.results.stats import Summary, summarise
from stages.bench_training.findings import ON_DEVICES, limit_of, parts_of, shortest_ms
from stages.bench_training.measure import names

COMPARISONS = {  # what is compared, by finding
    "lenet_fp32_speedup": "our loop relative to the notes' loop, LeNet",
    "resnet18_fp32_speedup": "our loop relative to the notes' loop, ResNet-18",
    "over_plain": "our loop relative to a plain PyTorch loop over float images in memory",
    "lightning": "PyTorch Lightning with the notes' loader relative to the notes' loop",
    "lenet_graph_speedup": "a CUDA graph relative to the notes' loop, LeNet",
    "resnet18_graph_speedup": "a CUDA graph relative to the notes' loop, ResNet-18",
    "lenet_bf16_over_fp32": "LeNet in bfloat16 relative to float32, both in our loop",
    "resnet18_bf16_over_fp32": "ResNet-18 in bfloat16 relative to float32, both in our loop",
    "lenet_bf16_speedup": "our loop in bfloat16 relative to the notes' loop, LeNet",
    "resnet18_bf16_speedup": "our loop in bfloat16 relative to the notes' loop, ResNet-18",
}


@dataclass(frozen=True)
class VariantRow:
    """A variant's step time at one batch size."""

    net: str
    variant: str
    batch: int
    step: Summary  # ms

    @property
    def epoch_s(self) -> float:
        """Return the seconds per epoch at this step time."""
        return -(-FASHION_COUNTS["train"] // self.batch) * self.step.median / 1e3


LIMITS = dict(
    zip(
        ("arithmetic at the peak", "empty places in vectors", "reads and writes", "the rest"),
        (*style.TEXT_COLOURS[:3], style.FAINT_TEXT),
        strict=True,
    )
)
LEAST_WRITTEN = 5  # percent of a bar, to have room for its number
PRECISION_OF = {names.ENGINE: "fp32", names.BF16: "bf16"}  # of the loops that are shown in parts
FORMATS = {"fp32": "float32", "tf32": "TensorFloat-32", "bf16": "bfloat16"}


@dataclass(frozen=True)
class OperationKind:
    """A kind of operation in a step: its time and its lower bound, in ms."""

    kind: str
    ms: float
    limit_ms: float


@dataclass(frozen=True)
class StepInParts:
    """A step of our loop in parts.

    Attributes:
        title: its network and precision.
        parts: its kinds of operations, the longest first.
        ms: its time.
        limit: what bounds it: ms of arithmetic at the peak, then what empty places in vectors and
            what reads and writes add.
    """

    title: str
    parts: Sequence[OperationKind]
    ms: float
    limit: Sequence[float]

    @property
    def in_kernels(self) -> float:
        """Return the share of the step spent in operations; Python takes the rest."""
        return min(1.0, sum(part.ms for part in self.parts) / self.ms)


def steps_in_parts(results: Results) -> list[StepInParts]:
    """Return the steps that were timed in parts, by network and precision."""
    return [
        step
        for net, title in TITLES.items()
        for loop, precision in PRECISION_OF.items()
        if (step := in_parts(results, net, loop, precision, f"{title}, {FORMATS[precision]}"))
    ]


def in_parts(
    results: Results, net: str, loop: str, precision: str, title: str
) -> StepInParts | None:
    """Return a loop's step in parts; None if it was not timed."""
    limit = limit_of(results, net, precision)
    if not limit.with_bytes:
        return None
    at_peak, in_vectors, with_bytes = (
        summarise(each.values).median
        for each in (limit.at_peak, limit.in_vectors, limit.with_bytes)
    )
    rates = (names.ARITHMETIC[precision], names.COPIES)
    gflops, gbs = (summarise(results.samples(names.RATE, name).values).median for name in rates)
    parts = [
        OperationKind(m.variant, m.summary.median, shortest_ms(m, gflops, gbs))
        for m in parts_of(results, net, loop)
    ]
    return StepInParts(
        title,
        sorted(parts, key=lambda part: -part.ms),
        summarise(results.samples(net, loop).values).median,
        (at_peak, in_vectors - at_peak, with_bytes - in_vectors),
    )


def values(results: Results, found: Findings) -> dict[str, object]:
    return {
        "steps": steps_in_parts(results),
        "vector_length": results.conditions[names.VECTOR_LENGTH],
        "resnet_batch": int(results.xs(names.RESNET18, names.ENGINE)[0]),
        "comparisons": [
            {"what": what, "found": found[name]}
            for name, what in COMPARISONS.items()
            if found[name]
        ],
        "peaks": peaks(found),
        "table": table(results),
    }


def peaks(found: Findings) -> list[dict[str, object]]:
    """Return the shares of the peak and of its limit that a step reaches, by net and precision."""
    rows = (
        {
            "what": f"{title}, {in_words}",
            "of_peak": found[f"{net}_{precision}_of_peak"],
            "of_limit": found[f"{net}_{precision}_of_limit"],
        }
        for net, title in TITLES.items()
        for precision, in_words in FORMATS.items()
    )
    return [row for row in rows if row["of_peak"]]


def figures(results: Results, found: Findings) -> list[Figure]:
    time = say("Time per step (ms)")
    shown = [
        Figure(
            "training_speed",
            [plots.bars(times(results, net), time, title) for net, title in TITLES.items()],
        )
    ]
    if steps := steps_in_parts(results):
        shown.append(Figure("training_limits", [partial(draw_limits, steps)]))
    experiments = experiments_in_words()
    ways = {names.LOOP: say("loop"), names.THREADS: say("threads")}
    rows = {
        say("{net}: {way}", net=experiments[experiment], way=ways[variant]): found[name]
        for name, (experiment, variant) in ON_DEVICES.items()
        if found[name]
    }
    if rows:
        as_fast = say("Speed relative to one device (×)")
        virtual = results.conditions[names.TWO_DEVICES] == "cpu-virtual"
        shown.append(Figure("training_on_devices", [plots.dots(rows, as_fast, virtual=virtual)]))
    return shown


def experiments_in_words() -> dict[str, str]:
    """Return the titles of the experiments on one and two devices."""
    return {names.NOTES_LENET: "LeNet", names.WIDE: say("LeNet, wider")}


def table(results: Results) -> list[VariantRow]:
    titles = {**TITLES, **experiments_in_words()}
    return [
        VariantRow(title, translation(found.variant), int(found.x), found.summary)
        for experiment, title in titles.items()
        for found in timed(results, experiment)
    ]


def timed(results: Results, experiment: str) -> list[Measurement]:
    """Return the rows of an experiment's measured variants."""
    return [
        results.series(experiment, name)[0]
        for name in results.variants(experiment)
        if results.one(experiment, name)
    ]


def times(results: Results, net: str) -> dict[str, Sequence[float]]:
    """Return the samples of each variant's step, in ms."""
    return {in_two_lines(translation(m.variant)): m.values for m in timed(results, net)}


def draw_limits(steps: Sequence[StepInParts], path: Path) -> None:
    """Draw each step as a stacked bar: the shares of what bounds it, and the rest."""
    with style.figure(path, style.WIDTH, plots.FRAME + plots.ROW * (len(steps) + 1)) as fig:
        axes = fig.add_subplot()
        axes.set_xlabel(say("Share of the step (%)"))
        left = np.zeros(len(steps))
        shares = np.array([shares_of(step) for step in steps])
        for (reason, colour), column in zip(LIMITS.items(), shares.T, strict=True):
            bars = axes.barh(
                range(len(steps)),
                column,
                left=left,
                height=0.6,
                color=colour,
                label=translation(reason),
            )
            written = [f"{share:.0f}" if share >= LEAST_WRITTEN else "" for share in column]
            axes.bar_label(bars, written, label_type="center", color=style.PAPER)
            left += column
        plots.name_rows(axes, [in_two_lines(step.title) for step in steps])
        axes.set_xlim(0, 100)
        style.key(fig, axes)


def shares_of(step: StepInParts) -> list[float]:
    """Return a step's shares in percent: what bounds it, and the rest."""
    parts = [*step.limit, max(0.0, step.ms - sum(step.limit))]
    return [100 * ms / sum(parts) for ms in parts]
