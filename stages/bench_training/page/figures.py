"""The figures and tables of the page on the speed of training."""

from collections.abc import Sequence
from dataclasses import dataclass

from lab.data.datasets import FASHION_COUNTS
from lab.report import plots
from lab.report.benchmarks import TITLES
from lab.report.language import say, translation
from lab.report.page import Figure
from lab.report.plots import in_two_lines
from lab.results.findings import Findings
from lab.results.measurements import Measurement, Results
from lab.results.stats import Summary
from stages.bench_training.findings import ON_DEVICES, ms_at_peak
from stages.bench_training.measure import params as names

COMPARISONS = {  # what is held against what, by finding
    "lenet_fp32_speedup": "our loop relative to the notes' loop, LeNet",
    "resnet18_fp32_speedup": "our loop relative to the notes' loop, ResNet-18",
    "over_plain": "our loop relative to a plain PyTorch loop over float images in memory",
    "lightning": "PyTorch Lightning with the notes' loader relative to the notes' loop",
    "lenet_bf16_over_fp32": "LeNet in bfloat16 relative to float32, both in our loop",
}


@dataclass(frozen=True)
class Row:
    """A variant's time, of which a step has so many images."""

    net: str
    variant: str
    batch: int
    step: Summary  # ms

    @property
    def epoch_s(self) -> float:
        """Seconds of an epoch of so many steps."""
        return -(-FASHION_COUNTS["train"] // self.batch) * self.step.median / 1e3


def values(results: Results, found: Findings) -> dict[str, object]:
    return {
        "resnet_batch": int(results.xs(names.RESNET18, names.ENGINE)[0]),
        "comparisons": [
            {"what": what, "found": found[name]}
            for name, what in COMPARISONS.items()
            if found[name]
        ],
        "table": table(results),
    }


def figures(results: Results, found: Findings) -> list[Figure]:
    time = say("Time per step (ms)")
    shown = [
        Figure(
            "training_speed",
            [plots.bars(times(results, net), time, title) for net, title in TITLES.items()],
        )
    ]
    experiments = experiments_in_words(results)
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


def experiments_in_words(results: Results) -> dict[str, str]:
    """The networks and batches that are trained on devices of one process."""
    large = results.one(names.LARGE_BATCH, names.ONE_DEVICE)
    return {
        names.NOTES_LENET: "LeNet",
        names.LARGE_BATCH: say("LeNet, batch {batch}", batch=f"{large.x:.0f}" if large else "–"),
        names.WIDE: say("LeNet, wider"),
    }


def table(results: Results) -> list[Row]:
    """All variants, by network."""
    titles = {**TITLES, **experiments_in_words(results)}
    return [
        Row(title, translation(found.variant), int(found.x), found.summary)
        for experiment, title in titles.items()
        for found in timed(results, experiment)
    ]


def timed(results: Results, experiment: str) -> list[Measurement]:
    """An experiment's variants, without the peaks that they are held against."""
    return [
        results.series(experiment, name)[0]
        for name in results.variants(experiment)
        if name not in names.PEAKS and results.one(experiment, name)
    ]


def times(results: Results, net: str) -> dict[str, Sequence[float]]:
    """The samples of each variant's step in ms, and what ours would take at the peak."""
    return {
        **{in_two_lines(translation(m.variant)): m.values for m in timed(results, net)},
        say("at the float32 peak"): ms_at_peak(results, net).values,
    }
