"""What the page on the speed of training names: numbers, and what they decide."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lab.data.datasets import FASHION_COUNTS
from lab.report.benchmarks import TITLES, ratio_of, read
from lab.report.language import say
from lab.results.measurements import Measurement, Results
from lab.results.stats import Ratio, Summary
from stages.bench_training.measure import names
from stages.bench_training.measure.comparisons import (
    against_the_peak,
    gain,
    notes_variant,
    share_of_peak,
)

VERDICTS = ("faster", "inconclusive", "slower")
OUTCOMES = {
    "lenet_verdict": VERDICTS,
    "resnet_verdict": VERDICTS,
    "threads_verdict": VERDICTS,
    "two_devices": ("cpu-virtual", "cuda", "none"),
    "on_gpu": (True, False),
    "above": (True, False),
}


def values(folder: Path) -> dict[str, object]:
    """The values of `folder` (reports/bench_training)."""
    results, m = read(folder)
    lenet, resnet = (ratio_of(m, f"{net}_{names.FP32_SPEEDUP}") for net in names.NETS)
    threads = gain(results, names.WIDE, names.THREADS, over=names.ONE_DEVICE)
    notes = notes_variant(results, names.LENET, m[names.NOTES_WORKERS])
    graph = f"{names.LENET}_{names.GRAPH_SPEEDUP}"
    of_peak = {net: _of_peak(results, net) for net in names.NETS}
    return {
        "lenet": lenet,
        "lenet_verdict": lenet.verdict,
        "resnet": resnet,
        "resnet_verdict": resnet.verdict,
        "graph": ratio_of(m, graph) if graph in m else None,
        "bf16": _bf16(results),
        "notes_s": _seconds(results, names.LENET, notes),
        "ours_s": _seconds(results, names.LENET, names.ENGINE),
        "resnet_s": _seconds(results, names.RESNET18, names.ENGINE),
        "resnet_batch": int(results.series(names.RESNET18, names.ENGINE)[0].x),
        "of_peak": of_peak,
        "above": any(share is not None and share.low > 1 for share in of_peak.values()),
        "plain": gain(results, names.LENET, names.ENGINE, over=names.PLAIN),
        "lightning": gain(results, names.LENET, names.LIGHTNING, over=notes),
        "loop": gain(results, names.WIDE, names.LOOP, over=names.ONE_DEVICE),
        "threads": threads,
        "threads_verdict": threads.verdict if threads else "inconclusive",
        "two_devices": m[names.TWO_DEVICES],
        "on_gpu": m["device_kind"].startswith("cuda"),
        "starts": m["starts"],
        "table": table(results),
    }


def variants_in_words() -> dict[str, str]:
    """The variants as the page calls them."""
    return {
        names.FOUR_WORKERS: say("notes' loop,\n4 workers"),
        names.NO_WORKERS: say("notes' loop,\nno workers"),
        names.LIGHTNING: "PyTorch Lightning",
        names.PLAIN: say("plain loop,\ndata in memory"),
        names.ENGINE: say("our loop"),
        names.GRAPH: say("our loop,\nCUDA graph"),
        names.COMPILED: say("our loop,\ncompiled"),
        names.FP32: say("our loop,\nstrict float32"),
        names.TF32: say("our loop,\nTensorFloat-32"),
        names.BF16: say("our loop,\nbfloat16"),
        names.COMPILED_BF16: say("our loop,\nbfloat16, compiled"),
        names.ONE_DEVICE: say("one device"),
        names.LOOP: say("two devices,\nloop"),
        names.THREADS: say("two devices,\nthreads"),
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
    words, titles = variants_in_words(), {**TITLES, **experiments_in_words(results)}
    return [
        Row(title, words[found.variant], int(found.x), found.summary)
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


def gains(results: Results) -> Mapping[tuple[str, str], Ratio]:
    """How many times as fast as one device two are, by what they train and how."""
    return {
        (experiment, variant): found
        for experiment in names.ON_DEVICES
        for variant in (names.LOOP, names.THREADS)
        if (found := gain(results, experiment, variant, over=names.ONE_DEVICE))
    }


def _seconds(results: Results, net: str, variant: str) -> float:
    """A step's."""
    return results.series(net, variant)[0].summary.median / 1e3


def _of_peak(results: Results, net: str) -> Ratio | None:
    """The share of the machine's peak in float32."""
    variant, product = against_the_peak(results, net)[names.FP32_OF_PEAK]
    return share_of_peak(results, net, variant, product)


def _bf16(results: Results) -> Ratio | None:
    """How many times as fast as in float32 our loop trains LeNet in bfloat16."""
    base = names.FP32 if names.FP32 in results.variants(names.LENET) else names.ENGINE
    return gain(results, names.LENET, names.BF16, over=base)
