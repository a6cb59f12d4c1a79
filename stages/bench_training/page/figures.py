"""The figures of the page on the speed of training."""

from collections.abc import Sequence
from pathlib import Path

from lab.report import plots
from lab.report.benchmarks import TITLES
from lab.report.language import say, translation
from lab.report.page import Figure
from lab.report.plots import in_two_lines
from lab.results.documents import read_results
from lab.results.measurements import Results
from stages.bench_training.findings import ON_DEVICES, findings, ms_at_peak
from stages.bench_training.measure import names
from stages.bench_training.page.values import experiments_in_words, timed


def figures(folder: Path) -> list[Figure]:
    """The figures of `folder` (reports/bench_training)."""
    results = read_results(folder)
    time = say("Time per step (ms)")
    shown = [
        Figure(
            "training_speed",
            [plots.bars(times(results, net), time, title) for net, title in TITLES.items()],
        )
    ]
    experiments, found = experiments_in_words(results), findings(results)
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


def times(results: Results, net: str) -> dict[str, Sequence[float]]:
    """The samples of each variant's step in ms, and what ours would take at the peak."""
    return {
        **{in_two_lines(translation(m.variant)): m.values for m in timed(results, net)},
        say("at the float32 peak"): ms_at_peak(results, net).values,
    }
