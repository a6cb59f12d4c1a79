"""The figures of the page on two devices."""

from collections.abc import Mapping
from pathlib import Path

from lab.report import plots
from lab.report.language import say, translation
from lab.report.page import Figure
from lab.results.documents import read_results
from stages.bench_parallel.page.values import CHAINS, WAYS


def figures(folder: Path) -> list[Figure]:
    """The figures of `folder` (reports/bench_parallel)."""
    results = read_results(folder)

    def times(experiment: str, names: Mapping[str, str]) -> plots.Draw:
        rows = {
            translation(name): results.series(experiment, variant)[-1].values
            for variant, name in names.items()
        }
        virtual = results.conditions["device_kind"] == "cpu-virtual"
        return plots.bars(rows, say("Time (ms)"), virtual=virtual)

    return [
        Figure("parallel", [times("products", WAYS)]),
        Figure("parallel_chains", [times("dependencies", CHAINS)]),
    ]
