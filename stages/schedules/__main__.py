"""Run the stage: `python -m stages.schedules`."""

import sys
from collections.abc import Sequence

import torch
from torch import Tensor

from lab.core.exit_codes import run
from lab.core.files import REPORTS, Metrics, write_metrics, write_rows
from lab.core.params import load
from lab.data.datasets import Split, dataset_name, read_fashion_mnist
from lab.data.images import shrink
from lab.machine.devices import resolve
from lab.results.curves import Curve, rows_of
from stages.schedules import names
from stages.schedules.book_schedules import drawn
from stages.schedules.params import Params, ScheduleParams
from stages.schedules.schedule_trials import tried, warm_up_tested


def measure(params: ScheduleParams, train: Split, test: Split, seed: int) -> list[Curve]:
    """The curves of all demos."""
    images = (*_small_images(train), *_small_images(test))
    return [*drawn(), *tried(images, params, seed), *warm_up_tested(images, params, seed)]


def _small_images(split: Split) -> tuple[Tensor, Tensor]:
    """Images of 14 x 14 pixels (n, 196) and their labels."""
    return shrink(torch.tensor(split.images), 14).flatten(1), torch.from_numpy(split.labels)


def summarise(curves: Sequence[Curve]) -> Metrics:
    """The best schedule beside a constant rate, and how many runs of each arm fail."""
    accuracy = {c.series: c for c in curves if c.demo == names.ACCURACY}
    failures = {c.series: c for c in curves if c.demo == names.FAILURES}
    ranked = [c for name, c in accuracy.items() if name != names.AS_THE_BOOK]
    best = max(ranked, key=lambda c: c.y[0])
    return {
        names.BEST_SCHEDULE: best.series,
        **_accuracy(names.BEST_ACCURACY, best),
        **_accuracy(names.CONSTANT_ACCURACY, accuracy[names.CONSTANT]),
        **{
            metric: round(100 * float(failures[arm].y.mean()), 3)
            for arm, metric in names.FAILED_PERCENT.items()
        },
    }


def _accuracy(metric: str, c: Curve) -> dict[str, float]:
    return {
        metric: round(100 * float(c.y[0]), 3),
        f"{metric}_iqr": round(100 * float(c.high[0] - c.low[0]), 3),
    }


def main() -> None:
    """Measure all demos and write rows and metrics."""
    params = load(Params)
    resolve(1, params.devices)
    train = read_fashion_mnist("train").first(params.schedules.train_images)
    test = read_fashion_mnist("t10k").first(names.TEST_IMAGES)
    curves = measure(params.schedules, train, test, params.seed)
    write_rows(REPORTS / "schedules", rows_of(curves))
    write_metrics(REPORTS / "schedules", {"dataset": dataset_name(), **summarise(curves)})


if __name__ == "__main__":
    sys.exit(run(main))
