"""Run the stage: `python -m stages.schedules`."""

import sys
from dataclasses import replace

import torch

from lab.core.files import Metrics
from lab.core.params import load
from lab.core.process import run
from lab.data.datasets import Split, dataset_name, read_fashion_mnist
from lab.data.images import small_images
from lab.machine.allocator import disable_malloc_trim
from lab.machine.devices import Devices, resolve
from lab.results.measurements import Measurement
from lab.timing.runner import write_results
from stages.schedules import findings
from stages.schedules.measure.by_schedule import drawn, try_schedules
from stages.schedules.measure.highest_rate import RateSearch, measure_highest_rate
from stages.schedules.measure.params import Params, ScheduleParams, SearchParams

TEST_IMAGES = 2000


def measure(
    params: ScheduleParams, devices: Devices, train: Split, test: Split, seed: int
) -> list[Measurement]:
    """Measure the schedules' rates, LeNet under each, and each net's highest stable rates."""
    torch.backends.cudnn.deterministic = True  # the same seed gives the same bits
    side, [device] = params.image_side, devices.devices
    train_set, test_set = (small_images(split, side, device) for split in (train, test))
    trained = [*try_schedules(train_set, test_set, params, seed)]
    for net, of_runs in searched(params).items():
        trained += measure_highest_rate(RateSearch(net, side, train_set, of_runs), seed)
    trained = [replace(m, device_kind=devices.kind, threads=devices.threads) for m in trained]
    return [*drawn(), *trained]


def searched(params: ScheduleParams) -> dict[str, SearchParams]:
    """Return the nets whose highest stable rates are searched."""
    each = {"lenet": params.highest_rate.lenet, "resnet18": params.highest_rate.resnet18}
    return {net: of_runs for net, of_runs in each.items() if of_runs.seeds}


def main() -> None:
    disable_malloc_trim()
    params = load(Params)
    p, devices = params.schedules, resolve(1, params.devices)
    train = read_fashion_mnist("train").first(p.train_images)
    test = read_fashion_mnist("t10k").first(TEST_IMAGES)
    measured = measure(p, devices, train, test, params.seed)
    conditions: Metrics = {
        "dataset": dataset_name(),
        "image_side": p.image_side,
        "batch_size": p.batch_size,
        "steps": p.steps,
        "nets": " ".join(searched(p)),
    }
    write_results("schedules", measured, conditions, findings)


if __name__ == "__main__":
    sys.exit(run(main))
