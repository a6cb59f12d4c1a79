"""The figures of the page on two devices."""

from pathlib import Path

from lab.report import plots
from lab.report.language import say, translation
from lab.report.page import Figure
from lab.results.documents import read_results


def figures(folder: Path) -> list[Figure]:
    """The figures of `folder` (reports/bench_parallel)."""
    results = read_results(folder)

    def times(experiment: str) -> plots.Draw:
        rows = {
            translation(variant): results.series(experiment, variant)[-1].values
            for variant in results.variants(experiment)
        }
        virtual = results.conditions["device_kind"] == "cpu-virtual"
        return plots.bars(rows, say("Time (ms)"), virtual=virtual)

    return [
        Figure("parallel", [times("products")]),
        Figure("parallel_chains", [times("dependencies")]),
    ]
