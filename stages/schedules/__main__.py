"""Run the stage: `python -m stages.schedules`."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

import torch

from lab.core.files import Metrics
from lab.core.params import load
from lab.core.process import run
from lab.data.datasets import Split, dataset_name, read_fashion_mnist
from lab.data.images import small_images
from lab.machine.allocator import disable_malloc_trim
from lab.machine.devices import Devices, resolve
from lab.results.measurements import Measurement
from lab.results.stats import paired_ratios
from lab.timing.runner import write_results
from stages.schedules.measure.by_schedule import drawn, try_schedules
from stages.schedules.measure.highest_rate import Trainer, measure_highest_rate
from stages.schedules.measure.names import AS_THE_BOOK, CONSTANT, NO_WARM_UP, WARM_UP
from stages.schedules.measure.params import Params, ScheduleParams

TEST_IMAGES = 2000
COMPARED = (
    *("best_accuracy_percent", "constant_accuracy_percent"),
    *("lenet_warm_up_gain", "resnet18_warm_up_gain"),
)


def measure(
    params: ScheduleParams, devices: Devices, train: Split, test: Split, seed: int
) -> list[Measurement]:
    """The schedules drawn, LeNet under each, and each net's highest stable rates."""
    torch.backends.cudnn.deterministic = True  # the same seed, the same bits
    side, [device] = params.image_side, devices.devices
    train_set, test_set = (small_images(split, side, device) for split in (train, test))
    trained = [*try_schedules(train_set, test_set, params, seed)]
    searched = {"lenet": params.highest_rate.lenet, "resnet18": params.highest_rate.resnet18}
    for net, of_runs in searched.items():
        if of_runs.seeds:
            trained += measure_highest_rate(Trainer(net, side, train_set, of_runs), seed)
    trained = [replace(m, device_kind=devices.kind, threads=devices.threads) for m in trained]
    return [*drawn(), *trained]


def summarise(measured: Sequence[Measurement]) -> Metrics:
    """The best schedule beside a constant rate, and what warm-up does for the highest rate.

    The best schedule is chosen by one half of the seeds and judged by the other.
    """
    ranked = {
        m.variant: m.values
        for m in measured
        if m.experiment == "schedule_accuracy" and m.variant != AS_THE_BOOK
    }
    half = len(ranked[CONSTANT]) // 2
    best = max(ranked, key=lambda name: median(ranked[name][:half]))
    limits = {
        (str(m.columns["net"]), m.variant): m.values
        for m in measured
        if m.experiment == "highest_stable_rate"
    }
    nets = sorted({net for net, _ in limits})
    gains = {net: paired_ratios(limits[net, WARM_UP], limits[net, NO_WARM_UP]) for net in nets}
    return {
        "nets": " ".join(nets),
        "best_schedule": best,
        "best_accuracy_percent": round(median(ranked[best][half:]), 3),
        "constant_accuracy_percent": round(median(ranked[CONSTANT][half:]), 3),
        **{f"{net}_warm_up_gain": round(median(gain), 3) for net, gain in gains.items()},
    }


def about(params: Params) -> Metrics:
    """The settings of the runs by schedule, which the page names."""
    p = params.schedules
    sizes = {"image_side": p.image_side, "batch_size": p.batch_size, "steps": p.steps}
    return {"dataset": dataset_name(), **sizes}


def main() -> None:
    disable_malloc_trim()
    params = load(Params)
    train = read_fashion_mnist("train").first(params.schedules.train_images)
    test = read_fashion_mnist("t10k").first(TEST_IMAGES)
    devices = resolve(1, params.devices)
    measured = measure(params.schedules, devices, train, test, params.seed)
    write_results("schedules", measured, {**about(params), **summarise(measured)}, COMPARED)


if __name__ == "__main__":
    sys.exit(run(main))
