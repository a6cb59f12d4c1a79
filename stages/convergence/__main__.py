"""Run the stage: `python -m stages.convergence`."""

import sys
from collections.abc import Sequence
from itertools import chain

import numpy as np
import torch

from lab.core.files import REPORTS, Metrics, write_metrics, write_rows
from lab.core.params import load
from lab.core.process import run
from lab.data.datasets import Split, dataset_name, read_fashion_mnist
from lab.data.images import small_images
from lab.machine.allocator import disable_malloc_trim
from lab.machine.devices import resolve
from lab.machine.hardware import write_conditions
from lab.results.curves import Curve, line, rows_of
from lab.results.measurements import Measurement
from lab.timing.runner import measure_in_starts
from stages.convergence.measure import names, one_start
from stages.convergence.measure.epochs_to_target import Trainer, measure_epochs
from stages.convergence.measure.params import ConvergenceParams, Params
from stages.convergence.measure.short_runs import measure_short_runs, measure_stems


def measure(
    p: ConvergenceParams, device: torch.device, train: Split, test: Split, seed: int
) -> list[Curve]:
    """What does not depend on the clock: epochs to the target, and short runs."""
    torch.backends.cudnn.deterministic = True  # the same seed, the same bits
    train_set, test_set = (small_images(split, p.image_side, device) for split in (train, test))
    trainers = [
        Trainer(net, p.image_side, of_net, train_set, test_set, seed)
        for net, of_net in p.nets.items()
    ]
    curves = [
        *chain.from_iterable(map(measure_epochs, trainers)),
        *measure_short_runs(p, train_set, test_set, seed),
    ]
    if not p.stems.num_seeds:
        return curves
    seen, tested = (
        small_images(split, names.NOTES_SIDE, device)
        for split in (train.first(p.stems.images), test)
    )
    return [*curves, *measure_stems(p.stems, seen, tested, seed)]


def times(measurements: Sequence[Measurement]) -> list[Curve]:
    """The times of an image, by start."""
    return [line(m.experiment, m.variant, range(len(m.values)), m.values) for m in measurements]


def summarise(curves: Sequence[Curve], p: ConvergenceParams) -> Metrics:
    """The settings that the page names, and of each net the share of the runs that failed."""
    untrained = {names.of_net(names.TUNED_BATCH, net): 0 for net in names.NETS}
    found: dict[str, float | str] = {
        names.TRAIN_IMAGES: p.train_images,
        names.STEMS_TRAINED: " ".join(names.STEMS) if p.stems.num_seeds else "none",
        **untrained,
    }
    for net, of_net in p.nets.items():
        reached = [c for c in curves if c.experiment == names.of_net(names.REACHED, net)]
        epochs = [c for c in curves if c.experiment == names.of_net(names.EPOCHS, net)]
        missed = np.concatenate([1 - c.y for c in reached])
        diverged = np.concatenate([c.diverged for c in epochs])
        of_runs = {
            names.TARGET_PERCENT: of_net.target_accuracy_percent,
            names.MAX_EPOCHS: of_net.max_epochs,
            names.SMALLEST: of_net.batch_sizes[0],
            names.LARGEST: of_net.batch_sizes[-1],
            names.TUNED_BATCH: of_net.batch_sizes[-1] if of_net.tuning_seeds else 0,
            names.NOT_REACHED_PERCENT: round(100 * float((missed - diverged).mean()), 3),
            names.DIVERGED_PERCENT: round(100 * float(diverged.mean()), 3),
        }
        found |= {names.of_net(name, net): value for name, value in of_runs.items()}
    return found


def main() -> None:
    """Train, time, and write rows and metrics."""
    disable_malloc_trim()
    params = load(Params)
    p = params.convergence
    devices = resolve(1, params.devices)
    train = read_fashion_mnist("train").first(p.train_images)
    test = read_fashion_mnist("t10k").first(p.test_images)
    curves = measure(p, devices.devices[0], train, test, params.seed)
    curves += times(measure_in_starts(one_start, params.bench.starts))
    write_rows(REPORTS / "convergence", rows_of(curves))
    about: dict[str, float | str] = {
        "dataset": dataset_name(),
        "device_kind": devices.kind,
        "threads_per_device": devices.threads,
    }
    write_conditions(REPORTS / "convergence")
    write_metrics(REPORTS / "convergence", {**about, **summarise(curves, p)})


if __name__ == "__main__":
    sys.exit(run(main))
