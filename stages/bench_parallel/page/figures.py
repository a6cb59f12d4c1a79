"""The figures of the page on two devices."""

from collections.abc import Mapping
from pathlib import Path

from lab.report import plots
from lab.report.benchmarks import read
from lab.report.language import say, translation
from lab.report.page import Figure
from stages.bench_parallel.page.values import CHAINS, WAYS


def figures(folder: Path) -> list[Figure]:
    """The figures of `folder` (reports/bench_parallel)."""
    results, m = read(folder)

    def times(experiment: str, names: Mapping[str, str]) -> plots.Draw:
        rows = {
            translation(name): results.series(experiment, variant)[-1].values
            for variant, name in names.items()
        }
        label = say("Time (ms)")
        return plots.bars(rows, label, virtual=m["device_kind"] == "cpu-virtual")

    return [
        Figure("parallel", [times("products", WAYS)]),
        Figure("parallel_chains", [times("dependencies", CHAINS)]),
    ]
