"""Run the stage: `python -m stages.convergence`."""

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from statistics import median_high

import numpy as np
import torch

from lab.core.exit_codes import run
from lab.core.files import REPORTS, write_metrics, write_rows
from lab.core.params import load
from lab.data.datasets import Split, dataset_name, read_fashion_mnist
from lab.data.images import shrink
from lab.machine.allocator import keep_memory
from lab.machine.devices import Devices, resolve, usable_cores
from lab.parallel.device_workers import crew
from lab.results.curves import Curve, curve, key, line, rows_of
from lab.timing.bench import time_arms
from stages.convergence.params import ConvergenceParams, Params
from stages.convergence.train_to_target import (
    FIXED,
    LINEAR,
    RULES,
    Goal,
    Images,
    Run,
    ScaledLeNet,
    schedule,
    take_step,
    train_to_target,
)


def measure_epochs(
    params: ConvergenceParams, device: torch.device, train_set: Images, test_set: Images, seed: int
) -> Iterator[Curve]:
    """Yield each seed's epochs to the target by batch size, and what its readings saw, for each
    rule.

    On a CPU runs go side by side, one thread each, so that they are the same bits whatever the
    number of cores. Each seed is a net of its own: all seeds in one net of grouped convolutions
    take longer there.
    """
    smallest, goal = (
        params.batch_sizes[0],
        Goal(params.target_accuracy_percent / 100, params.max_epochs),
    )

    def trained(job: tuple[str, int, int]) -> Run:
        rule, batch_size, i = job
        generator = torch.Generator().manual_seed(seed + i)
        net = ScaledLeNet(generator, params.image_side).to(device)
        lr = schedule(rule, params.lr, batch_size, smallest, params.warm_up_epochs)
        return train_to_target(net, train_set, test_set, lr, batch_size, goal, generator)

    seeds = range(params.num_seeds)
    jobs = [(rule, n, i) for n in reversed(params.batch_sizes) for rule in RULES for i in seeds]
    once = [job for job in jobs if job[:2] != (LINEAR, smallest)]  # where it is the fixed rate
    with crew(usable_cores() if device.type == "cpu" else 1, 1) as pool:
        runs = dict(zip(once, pool.map(trained, once), strict=True))
    runs |= {(LINEAR, smallest, i): runs[FIXED, smallest, i] for i in seeds}
    for rule in RULES:
        for i in seeds:
            ended = [runs[rule, n, i] for n in params.batch_sizes]
            epochs = [r.epochs_to_target for r in ended]
            found = line("epochs", f"{rule}, seed {i}", params.batch_sizes, epochs)
            yield replace(found, diverged=np.array([float(r.ending == "diverged") for r in ended]))
    for (rule, n, i), r in runs.items():
        yield line("accuracy", f"{rule}, batch {n}, seed {i}", r.epochs, r.accuracies)


def measure_image_time(params: Params, devices: Devices, train_set: Images) -> Curve:
    """Return microseconds per image of a step at each batch size, measured in turn."""
    p = params.convergence
    generator = torch.Generator().manual_seed(params.seed)
    net = ScaledLeNet(generator, p.image_side).to(devices.devices[0])
    arms = {
        str(n): partial(take_step, net, Images(train_set.X[:n], train_set.y[:n]), 0.0)
        for n in p.batch_sizes
    }
    times = time_arms(arms, devices.devices[:1], params.bench)
    samples = [1e6 * np.array(times[str(n)]) / n for n in p.batch_sizes]
    return curve("us_per_image", "one device", p.batch_sizes, samples)


def image_sets(params: ConvergenceParams, device: torch.device, *splits: Split) -> list[Images]:
    """Return images of the size that is trained on, on the device."""
    return [
        Images(
            shrink(torch.tensor(split.images), params.image_side).to(device),
            torch.from_numpy(split.labels).to(device),
        )
        for split in splits
    ]


def measure(params: Params, devices: Devices, train: Split, test: Split) -> list[Curve]:
    """Measure epochs to the target, then the time of an image."""
    p, device = params.convergence, devices.devices[0]
    torch.backends.cudnn.deterministic = True  # the same seed, the same bits
    train_set, test_set = image_sets(p, device, train, test)
    return [
        *measure_epochs(p, device, train_set, test_set, params.seed),
        measure_image_time(params, devices, train_set),
    ]


def summarise(curves: Sequence[Curve], params: ConvergenceParams) -> dict[str, float | str]:
    """Return epochs and seconds to the target by rule and batch, what failed, and what the largest
    batch costs.

    A median over seeds counts runs that failed as longer than all others. In the penalty, epochs at
    the largest batch over those at the smallest with the same seed, they count as the whole budget:
    it is a lower bound then.
    """
    [times] = [c for c in curves if c.demo == "us_per_image"]
    metrics: dict[str, float | str] = {
        "target_percent": params.target_accuracy_percent,
        "train_images": params.train_images,
    }
    for n, us, low, high in zip(params.batch_sizes, times.y, times.low, times.high, strict=True):
        metrics[f"batch_{n}_us_per_image"] = round(float(us), 4)
        metrics[f"batch_{n}_us_per_image_iqr"] = round(float(high - low), 4)
    for rule in RULES:
        prefix = key(rule)
        seeds = [c for c in curves if c.demo == "epochs" and c.series.startswith(f"{rule}, seed ")]
        # (seeds, batch sizes)
        epochs = np.array([np.where(np.isfinite(c.y), c.y, math.inf) for c in seeds])
        diverged = np.array([c.diverged for c in seeds])
        for i, n in enumerate(params.batch_sizes):
            failure = "diverged" if diverged[:, i].mean() > 0.5 else "not reached"
            for suffix, value in zip(("", "_low", "_high"), spread(epochs[:, i]), strict=True):
                metrics[f"{prefix}_batch_{n}_epochs{suffix}"] = _shown(value, failure)
            seconds = spread(epochs[:, i])[0] * params.train_images * times.y[i] / 1e6
            metrics[f"{prefix}_batch_{n}_seconds"] = _shown(seconds, failure)
        for suffix, value in zip(
            ("", "_low", "_high"), spread(_penalties(epochs, params.max_epochs)), strict=True
        ):
            metrics[f"{prefix}_large_batch_penalty{suffix}"] = round(value, 3)
        metrics[f"{prefix}_large_batch_penalty_is"] = (
            "measured" if np.isfinite(epochs[:, -1]).all() else "a lower bound"
        )
        metrics[f"{prefix}_not_reached_percent"] = round(
            100 * float((np.isinf(epochs) - diverged).mean()), 3
        )
        metrics[f"{prefix}_diverged_percent"] = round(100 * float(diverged.mean()), 3)
    return metrics


def spread(values: Sequence[float] | np.ndarray) -> tuple[float, float, float]:
    """Return median (of an even number the higher middle), smallest and largest; infinity is larger
    than all.
    """
    ordered = sorted(float(value) for value in values)
    return median_high(ordered), ordered[0], ordered[-1]


def _penalties(epochs: np.ndarray, budget: float) -> np.ndarray:
    capped = np.minimum(epochs, budget)
    return np.asarray(capped[:, -1] / capped[:, 0])


def _shown(value: float, failure: str) -> float | str:
    return round(value, 4) if math.isfinite(value) else failure


def main() -> None:
    """Train, time, and write rows and metrics."""
    keep_memory()
    params = load(Params)
    p = params.convergence
    devices = resolve(1, params.devices)
    train = read_fashion_mnist("train").first(p.train_images)
    test = read_fashion_mnist("t10k").first(p.test_images)
    curves = measure(params, devices, train, test)
    write_rows(REPORTS / "convergence", rows_of(curves))
    about: dict[str, float | str] = {
        "dataset": dataset_name(),
        "device_kind": devices.kind,
        "threads_per_device": devices.threads,
    }
    write_metrics(REPORTS / "convergence", about | summarise(curves, p))


if __name__ == "__main__":
    sys.exit(run(main))
