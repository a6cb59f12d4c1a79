"""Run the stage: `python -m stages.schedules`."""

import sys
from collections.abc import Sequence
from statistics import median

import torch

from lab.core.files import REPORTS, Metrics, write_metrics, write_rows
from lab.core.params import load
from lab.core.process import run
from lab.data.datasets import Split, dataset_name, read_fashion_mnist
from lab.data.images import small_images
from lab.machine.allocator import disable_malloc_trim
from lab.machine.devices import resolve
from lab.machine.hardware import write_conditions
from lab.results.curves import Curve, rows_of
from lab.results.stats import paired_ratios
from stages.schedules.measure import names
from stages.schedules.measure.book_schedules import drawn
from stages.schedules.measure.highest_rate import Trainer, measure_highest_rate
from stages.schedules.measure.params import Params, ScheduleParams
from stages.schedules.measure.trials import try_schedules


def measure(
    params: ScheduleParams, device: torch.device, train: Split, test: Split, seed: int
) -> list[Curve]:
    """The curves of all experiments."""
    torch.backends.cudnn.deterministic = True  # the same seed, the same bits
    side = params.image_side
    train_set, test_set = (small_images(split, side, device) for split in (train, test))
    curves = [*drawn(), *try_schedules(train_set, test_set, params, seed)]
    searched = {
        names.LENET: params.highest_rate.lenet,
        names.RESNET18: params.highest_rate.resnet18,
    }
    for net, of_runs in searched.items():
        if of_runs.seeds:
            curves += measure_highest_rate(Trainer(net, side, train_set, of_runs), seed)
    return curves


def summarise(curves: Sequence[Curve]) -> Metrics:
    """The best schedule beside a constant rate, and what warm-up does for the highest rate.

    The best schedule is chosen by one half of the seeds and judged by the other.
    """
    by_name = {(c.experiment, c.series): c.y for c in curves}
    ranked = {
        series: y
        for (experiment, series), y in by_name.items()
        if experiment == names.ACCURACY and series != names.AS_THE_BOOK
    }
    half = len(ranked[names.CONSTANT]) // 2
    best = max(ranked, key=lambda name: median(ranked[name][:half]))
    edges = {
        series: y for (experiment, series), y in by_name.items() if experiment == names.STABLE_RATE
    }
    nets = sorted({series.split(", ")[0] for series in edges})
    gains: dict[str, float | str] = {}
    for net in nets:
        plain, warm = (edges[names.variant_of(net, variant)] for variant in names.VARIANTS)
        gains[names.gain(net)] = round(median(paired_ratios(list(warm), list(plain))), 3)
    return {
        names.NETS: " ".join(nets),
        names.BEST_SCHEDULE: best,
        names.BEST_ACCURACY: round(median(ranked[best][half:]), 3),
        names.CONSTANT_ACCURACY: round(median(ranked[names.CONSTANT][half:]), 3),
        **gains,
    }


def main() -> None:
    """Measure all experiments and write rows and metrics."""
    disable_malloc_trim()
    params = load(Params)
    devices = resolve(1, params.devices)
    train = read_fashion_mnist("train").first(params.schedules.train_images)
    test = read_fashion_mnist("t10k").first(names.TEST_IMAGES)
    curves = measure(params.schedules, devices.devices[0], train, test, params.seed)
    write_rows(REPORTS / "schedules", rows_of(curves))
    write_conditions(REPORTS / "schedules")
    write_metrics(REPORTS / "schedules", {"dataset": dataset_name(), **summarise(curves)})


if __name__ == "__main__":
    sys.exit(run(main))
