"""What the page on the speed of training names beside findings."""

from collections.abc import Mapping
from dataclasses import dataclass

from lab.data.datasets import FASHION_COUNTS
from lab.report.benchmarks import TITLES
from lab.report.language import say, translation
from lab.results.findings import Finding, exact, missing
from lab.results.measurements import Measurement, Results
from lab.results.reasons import Reason
from lab.results.stats import Summary
from stages.bench_training.measure import names

OUTCOMES = {
    "lenet_graph_speedup": (missing(Reason("skipped")), exact(3.0)),
    "wider_threads": (missing(Reason("skipped")), exact(1.5)),
}
COMPARISONS = {  # what is held against what, by finding
    "lenet_fp32_speedup": "our loop relative to the notes' loop, LeNet",
    "resnet18_fp32_speedup": "our loop relative to the notes' loop, ResNet-18",
    "over_plain": "our loop relative to a plain PyTorch loop over float images in memory",
    "lightning": "PyTorch Lightning with the notes' loader relative to the notes' loop",
    "lenet_bf16_over_fp32": "LeNet in bfloat16 relative to float32, both in our loop",
}


def values(results: Results, found: Mapping[str, Finding]) -> dict[str, object]:
    return {
        "resnet_batch": int(results.xs(names.RESNET18, names.ENGINE)[0]),
        "starts": results.conditions["starts"],
        "comparisons": [
            {"what": what, "found": found[name]}
            for name, what in COMPARISONS.items()
            if found[name]
        ],
        "table": table(results),
    }


def experiments_in_words(results: Results) -> dict[str, str]:
    """The networks and batches that are trained on devices of one process."""
    large = results.one(names.LARGE_BATCH, names.ONE_DEVICE)
    return {
        names.NOTES_LENET: "LeNet",
        names.LARGE_BATCH: say("LeNet, batch {batch}", batch=f"{large.x:.0f}" if large else "–"),
        names.WIDE: say("LeNet, wider"),
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
