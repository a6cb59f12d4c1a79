"""Run the stage: `python -m stages.schedules`."""

import sys
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from lab.core.exit_codes import run
from lab.core.files import REPORTS, Metrics, write_metrics, write_rows
from lab.core.params import load
from lab.data.datasets import Split, dataset_name, read_fashion_mnist
from lab.data.images import shrink
from lab.machine.devices import resolve
from lab.optim import schedules as rates
from lab.results.curves import Curve, curve, key, line, rows_of
from stages.schedules import batched_nets
from stages.schedules.params import Params, ScheduleParams

# the notes' figure: 0.3 -> 0.01 in 20 epochs, 5 of warm-up
BASE, FINAL, EPOCHS, WARMUP = 0.3, 0.01, 20, 5
SCHEDULES: dict[str, rates.Schedule] = {
    "constant": rates.constant(BASE),
    "square root": rates.square_root(BASE),
    "factor 0.9": rates.factor(BASE, 0.9, FINAL),
    "multi-step": rates.multi_step(BASE, 0.5, (10, 15)),
    "cosine": rates.cosine(BASE, FINAL, EPOCHS),
    "cosine, warm-up": rates.warm_up(rates.cosine(BASE, FINAL, EPOCHS - WARMUP), WARMUP),
    "inverse sqrt, warm-up": rates.warm_up(rates.inverse_sqrt(BASE, WARMUP), WARMUP, shift=False),
    "one-cycle": rates.one_cycle(BASE, FINAL, EPOCHS, peak=6),
}
TEST_IMAGES = 2000
BOOK_WAY = "warm-up as the book applies it"
Images = tuple[Tensor, Tensor, Tensor, Tensor]


def drawn() -> Iterator[Curve]:
    """Yield each schedule over 20 epochs, and the notes' last one as the book's code applies it."""
    t = np.arange(0, EPOCHS, 0.1)
    for name, schedule in SCHEDULES.items():
        yield line("schedule", name, t, [schedule(x) for x in t])
    yield line("schedule", BOOK_WAY, t, rates.after_epoch(SCHEDULES["cosine, warm-up"], EPOCHS, 10))


def tried(images: Images, params: ScheduleParams, seed: int) -> Iterator[Curve]:
    """Yield training loss per epoch and final test accuracy of each schedule, over seeds."""
    per_epoch = len(images[1]) // params.batch_size
    plans = {
        name: rates.per_step(schedule, EPOCHS, per_epoch) for name, schedule in SCHEDULES.items()
    }
    plans[BOOK_WAY] = rates.after_epoch(SCHEDULES["cosine, warm-up"], EPOCHS, per_epoch)
    outcome = _train_all(images, list(plans.values()), params, seed)
    for i, name in enumerate(plans):
        mine = slice(i * params.num_seeds, (i + 1) * params.num_seeds)
        losses = outcome.losses[:, mine].double().numpy()
        yield curve("schedule_loss", name, np.arange(1, EPOCHS + 1), list(losses))
        yield curve("schedule_accuracy", name, [EPOCHS], [outcome.accuracy[mine].numpy()])


def warm_up_tested(images: Images, params: ScheduleParams, seed: int) -> Iterator[Curve]:
    """Yield, against the base rate, the share of seeds that failed and the others' accuracy, for
    three arms.
    """
    per_epoch = len(images[1]) // params.batch_size
    plans = []
    for base in params.high_rates:
        plain = rates.cosine(base, FINAL, params.num_epochs)
        warm = rates.warm_up(
            rates.cosine(base, FINAL, params.num_epochs - params.warm_up_epochs),
            params.warm_up_epochs,
        )
        plans += [
            rates.per_step(plain, params.num_epochs, per_epoch),
            rates.per_step(warm, params.num_epochs, per_epoch),
            rates.after_epoch(warm, params.num_epochs, per_epoch),
        ]
    outcome = _train_all(images, plans, params, seed)
    shape = (len(params.high_rates), 3, params.num_seeds)
    failures = outcome.failed.view(shape).double().numpy()
    accuracies = np.where(failures > 0, np.nan, outcome.accuracy.view(shape).numpy())
    for i, name in enumerate(("no warm-up", "warm-up", BOOK_WAY)):
        yield line("warm_up_failures", name, params.high_rates, failures[:, i].mean(1))
        yield curve("warm_up_accuracy", name, params.high_rates, list(accuracies[:, i]))


def _train_all(
    images: Images, plans: list[list[float]], params: ScheduleParams, seed: int
) -> batched_nets.Outcome:
    """Train each plan of rates from each seed: model i * num_seeds + j is plan i from seed j."""
    columns = torch.tensor(plans).repeat_interleave(params.num_seeds, 0).T.contiguous()
    seeds = [seed + j for j in range(params.num_seeds)] * len(plans)
    return batched_nets.train(*images, seeds, columns, params.batch_size, seed)


def summarise(curves: list[Curve]) -> Metrics:
    """Return each schedule's accuracy, and where warm-up saves runs."""
    metrics: dict[str, float | str] = {}
    for c in curves:
        name = key(c.series)
        if c.demo == "schedule_accuracy":
            metrics[f"{name}_accuracy_percent"] = round(100 * float(c.y[0]), 3)
            metrics[f"{name}_accuracy_percent_iqr"] = round(100 * float(c.high[0] - c.low[0]), 3)
        if c.demo == "warm_up_failures":
            metrics[f"{name}_failed_percent"] = round(100 * float(c.y.mean()), 3)
            fine = c.x[c.y == 0]
            metrics[f"{name}_highest_rate_without_failure"] = (
                float(fine.max()) if len(fine) else 0.0
            )
    return metrics


def _tensors(split: Split) -> tuple[Tensor, Tensor]:
    return shrink(torch.tensor(split.images), 14).flatten(1), torch.from_numpy(split.labels)


def main() -> None:
    """Measure all demos and write rows and metrics."""
    params = load(Params)
    resolve(1, params.devices)
    train = read_fashion_mnist("train").first(params.schedules.train_images)
    test = read_fashion_mnist("t10k").first(TEST_IMAGES)
    images = (*_tensors(train), *_tensors(test))
    curves = [
        *drawn(),
        *tried(images, params.schedules, params.seed),
        *warm_up_tested(images, params.schedules, params.seed),
    ]
    write_rows(REPORTS / "schedules", rows_of(curves))
    write_metrics(REPORTS / "schedules", {"dataset": dataset_name()} | dict(summarise(curves)))


if __name__ == "__main__":
    sys.exit(run(main))
