"""Run the stage: `python -m stages.convergence`."""

import sys
from dataclasses import replace
from itertools import chain

import torch

from lab.core.files import Metrics
from lab.core.params import load
from lab.core.process import run
from lab.data.datasets import Split, dataset_name, read_fashion_mnist
from lab.data.images import small_images
from lab.machine.allocator import disable_malloc_trim
from lab.machine.devices import Devices, resolve
from lab.results.measurements import Measurement
from lab.timing.runner import measure_in_processes, write_results
from stages.convergence import findings
from stages.convergence.measure.epochs_to_target import RunsToTarget, measure_epochs
from stages.convergence.measure.names import NETS, STEMS
from stages.convergence.measure.params import ConvergenceParams, Params
from stages.convergence.measure.short_runs import measure_short_runs, measure_stems
from stages.convergence.measure.time_per_image import NOTES_SIDE, measure_times


def measure(
    p: ConvergenceParams, devices: Devices, train: Split, test: Split, seed: int
) -> list[Measurement]:
    """Measure what does not depend on the clock: epochs to the target, and short runs."""
    torch.backends.cudnn.deterministic = True  # the same seed gives the same bits
    [device] = devices.devices
    train_set, test_set = (small_images(split, p.image_side, device) for split in (train, test))
    trainers = [
        RunsToTarget(net, p.image_side, of_net, train_set, test_set, seed)
        for net, of_net in p.nets.items()
    ]
    trained = [
        *chain.from_iterable(map(measure_epochs, trainers)),
        *measure_short_runs(p, train_set, test_set, seed),
    ]
    if p.stems.num_seeds:
        seen, tested = (
            small_images(split, NOTES_SIDE, device) for split in (train.first(p.stems.images), test)
        )
        trained += measure_stems(p.stems, seen, tested, seed)
    return [replace(m, device_kind=devices.kind, threads=devices.threads) for m in trained]


def settings(p: ConvergenceParams) -> Metrics:
    """Return the settings for page and claims."""
    found: dict[str, float | str] = {
        "image_side": p.image_side,
        "train_images": p.train_images,
        "test_images": p.test_images,
        "stems": " ".join(STEMS) if p.stems.num_seeds else "none",
    }
    found |= {f"{net}_tuned_batch": 0 for net in NETS}
    for net, of_net in p.nets.items():
        of_runs = {
            "target_percent": of_net.target_accuracy_percent,
            "max_epochs": of_net.max_epochs,
            "smallest_batch": of_net.batch_sizes[0],
            "largest_batch": of_net.batch_sizes[-1],
            "tuned_batch": of_net.batch_sizes[-1] if of_net.tuning_seeds else 0,
        }
        found |= {f"{net}_{name}": value for name, value in of_runs.items()}
    return found


def main() -> None:
    disable_malloc_trim()
    params = load(Params)
    p, devices = params.convergence, resolve(1, params.devices)
    train = read_fashion_mnist("train").first(p.train_images)
    test = read_fashion_mnist("t10k").first(p.test_images)
    measured = measure(p, devices, train, test, params.seed)
    measured += measure_in_processes("convergence", params.bench.starts, measure_times, params)
    about: Metrics = {
        "dataset": dataset_name(),
        "device_kind": devices.kind,
        "threads_per_device": devices.threads,
    }
    write_results("convergence", measured, {**about, **settings(p)}, findings)


if __name__ == "__main__":
    sys.exit(run(main))
