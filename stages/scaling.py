"""What do more devices cost, in bytes moved and in epochs, and which networks bear it?

*Parallelism*: LeNet's gradient on several devices, data parallel, as a pipeline and tensor parallel; the bytes that
devices send each other and hold are counted while each step runs. *Ratio*: FLOP of a training step per byte of
parameters, counted for the notes' networks and for those that the notes rank. *Convergence*: epochs to a test
accuracy at batches from small to large, with the rate kept, scaled with the batch, and scaled with warm-up, from
several seeds; the time of an image at each batch size, measured side by side, turns them into seconds.

Read `reports/scaling/rows.csv`: per demo and series, points (x, y). A run that did not reach the target has no y,
and `diverged` 1 if it left the finite numbers or ended no better than a constant answer. Book: 13.5, 13.7.
"""

import copy
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from statistics import median_high
from typing import Annotated, Literal, Self

import numpy as np
import torch
from pydantic import Field, model_validator
from torch import nn

from lab import convergence, parallelism
from lab.allocator import keep_memory
from lab.bench import BenchParams, time_arms
from lab.convergence import FIXED, LINEAR, RULES, Goal, Images, Run, ScaledLeNet
from lab.counting import training_flop
from lab.curves import Curve, curve, key, line, rows_of
from lab.data import Split, dataset_name, read_fashion_mnist
from lab.devices import DeviceParams, Devices, resolve, usable_cores
from lab.lanes import crew
from lab.models import MODELS, LeNet
from lab.nets import to_float
from lab.params import Section, Seed, load
from lab.records import REPORTS, write_metrics, write_rows
from lab.runner import run
from lab.vision import torchvision

ONE, DATA, PIPELINE, TENSOR = "one device", "data parallel", "pipeline", "tensor parallel"
RANKED = (("GoogLeNet (Inception v1)", "Inception v3"), ("ResNet-18", "ResNet-50"), ("AlexNet",))  # by the notes
Demos = dict[str, dict[str, Curve]]
Networks = dict[str, tuple[nn.Module, tuple[int, ...]]]


class ConvergenceParams(Section):
    """The part of `scaling` that says what is trained and how far."""

    image_side: Literal[14, 28]
    train_images: Annotated[int, Field(ge=1, le=60_000)]
    test_images: Annotated[int, Field(ge=1, le=10_000)]
    batch_sizes: list[Annotated[int, Field(ge=1, le=60_000)]] = Field(min_length=2)
    lr: Annotated[float, Field(gt=0, le=1000)]
    warm_up_epochs: Annotated[float, Field(gt=0, le=100)]
    target_accuracy_percent: Annotated[float, Field(gt=0, le=100)]
    max_epochs: Annotated[int, Field(ge=1, le=1000)]
    num_seeds: Annotated[int, Field(ge=2, le=1000)]

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.batch_sizes != sorted(set(self.batch_sizes)) or self.batch_sizes[-1] > self.train_images:
            raise ValueError(f"growing batch_sizes of at most train_images, got {self.batch_sizes}")
        return self


class ScalingParams(Section):
    """The `scaling` section of params.yaml."""

    num_devices: list[Annotated[int, Field(ge=2, le=len(parallelism.LAYERS))]] = Field(min_length=1)
    step_batch_sizes: list[Annotated[int, Field(ge=4, le=4096)]] = Field(min_length=2, max_length=2)
    num_micro_batches: Annotated[int, Field(ge=2, le=4)]
    convergence: ConvergenceParams

    @model_validator(mode="after")
    def _grow(self) -> Self:
        small, large = self.step_batch_sizes
        if not small < large <= self.convergence.train_images:
            raise ValueError(f"two growing step_batch_sizes of at most train_images, got {self.step_batch_sizes}")
        return self


class Params(Section):
    """What `scaling` reads of params.yaml."""

    seed: Seed
    devices: DeviceParams
    bench: BenchParams
    scaling: ScalingParams


def measure_parallelism(params: ScalingParams, devices: Devices, images: Split, seed: int) -> Iterator[Curve]:
    """Yield, for each kind of parallelism, MB moved and held by batch size, and the gradient's difference."""
    net, sizes = LeNet(torch.Generator().manual_seed(seed)), params.step_batch_sizes
    X, y = to_float(torch.tensor(images.images)), torch.from_numpy(images.labels)
    kinds: dict[str, parallelism.Kind] = {
        DATA: parallelism.data_parallel,
        PIPELINE: parallelism.pipeline,
        _in_micro_batches(params.num_micro_batches): partial(
            parallelism.pipeline, num_micro_batches=params.num_micro_batches
        ),
        TENSOR: parallelism.tensor_parallel,
    }
    arms: list[tuple[str, parallelism.Kind, int]] = [(ONE, parallelism.data_parallel, 1)]
    arms += [(f"{name}, {k} devices", kind, k) for k in params.num_devices for name, kind in kinds.items()]
    exact, few = copy.deepcopy(net).double(), (X[: sizes[0]].double(), y[: sizes[0]])
    reference = parallelism.data_parallel(exact, *few, devices.devices[:1])
    for name, kind, k in arms:
        steps = [kind(net, X[:n], y[:n], devices.devices[:k]) for n in sizes]
        yield line("parallelism_moved_mb", name, sizes, [sum(step.moved.values()) / 1e6 for step in steps])
        for part in ("total", "params", "activations"):
            held = [max(getattr(m, part) for m in step.memory) / 1e6 for step in steps]
            yield line(f"parallelism_{part}_mb", name, sizes, held)
        rounding = parallelism.difference(kind(exact, *few, devices.devices[:k]), reference) / np.finfo(float).eps
        yield line("parallelism_difference_eps", name, sizes[:1], [rounding])
        yield line("parallelism_idle_percent", name, sizes, [100 * step.idle for step in steps])
    for k in params.num_devices:
        for name, micro_batches in (
            (PIPELINE, 1),
            (_in_micro_batches(params.num_micro_batches), params.num_micro_batches),
        ):
            units = parallelism.schedule(parallelism.flop_of_parts(net, k), micro_batches)
            idle = 100 * parallelism.idle_share(units)
            yield line("parallelism_idle_by_flop_percent", f"{name}, {k} devices", sizes[:1], [idle])


def _in_micro_batches(count: int) -> str:
    return f"{PIPELINE} of {count} micro-batches"


def networks() -> Networks:
    """Return the networks whose ratio is counted, each with the shape of its images; no weights are drawn."""
    generator, models = torch.Generator(), torchvision.models
    with torch.device("meta"):
        published: dict[str, tuple[nn.Module, int]] = {
            "AlexNet": (models.alexnet(), 224),
            "GoogLeNet (Inception v1)": (models.googlenet(init_weights=False, aux_logits=False), 224),
            "Inception v3": (models.inception_v3(init_weights=False, aux_logits=False), 299),
            "ResNet-18": (models.resnet18(), 224),
            "ResNet-50": (models.resnet50(), 224),
        }
    notes = {"LeNet": MODELS["lenet"](generator), "ResNet-18 (28 x 28)": MODELS["resnet18"](generator)}
    small: Networks = {name: (net, (1, 28, 28)) for name, net in notes.items()}
    return small | {name: (net, (3, side, side)) for name, (net, side) in published.items()}


def measure_ratio(batch_sizes: Sequence[int]) -> Iterator[Curve]:
    """Yield each network's FLOP per byte of parameters by images per step, and both alone; nothing is computed."""
    images = [1, *batch_sizes]
    for name, (net, shape) in networks().items():
        flop, size = training_flop(net.eval(), (1, *shape)), 4 * sum(p.numel() for p in net.parameters())
        yield line("ratio_flop_per_byte", name, images, [n * flop / size for n in images])
        yield line("ratio_counted", name, [size / 1e6], [flop / 1e9])


def measure_convergence(
    params: ConvergenceParams, device: torch.device, train_set: Images, test_set: Images, seed: int
) -> Iterator[Curve]:
    """Yield each seed's epochs to the target by batch size, and what its readings saw, for each rule.

    On a CPU runs go side by side, one thread each, so that they are the same bits whatever the number of cores.
    Each seed is a net of its own: all seeds in one net of grouped convolutions take longer there.
    """
    smallest, goal = params.batch_sizes[0], Goal(params.target_accuracy_percent / 100, params.max_epochs)

    def trained(job: tuple[str, int, int]) -> Run:
        rule, batch_size, i = job
        generator = torch.Generator().manual_seed(seed + i)
        net = ScaledLeNet(generator, params.image_side).to(device)
        lr = convergence.schedule(rule, params.lr, batch_size, smallest, params.warm_up_epochs)
        return convergence.train_to_target(net, train_set, test_set, lr, batch_size, goal, generator)

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
            found = line("convergence_epochs", f"{rule}, seed {i}", params.batch_sizes, epochs)
            yield replace(found, diverged=np.array([float(r.ending == "diverged") for r in ended]))
    for (rule, n, i), r in runs.items():
        yield line("convergence_accuracy", f"{rule}, batch {n}, seed {i}", r.epochs, r.accuracies)


def measure_image_time(params: Params, devices: Devices, train_set: Images) -> Curve:
    """Return microseconds per image of a step at each batch size, measured in turn."""
    p = params.scaling.convergence
    generator = torch.Generator().manual_seed(params.seed)
    net = ScaledLeNet(generator, p.image_side).to(devices.devices[0])
    arms = {
        str(n): partial(convergence.take_step, net, Images(train_set.X[:n], train_set.y[:n]), 0.0)
        for n in p.batch_sizes
    }
    times = time_arms(arms, devices.devices[:1], params.bench)
    samples = [1e6 * np.array(times[str(n)]) / n for n in p.batch_sizes]
    return curve("convergence_us_per_image", "one device", p.batch_sizes, samples)


def image_sets(params: ConvergenceParams, device: torch.device, *splits: Split) -> list[Images]:
    """Return images of the size that is trained on, on the device."""
    return [
        Images(convergence.shrink(torch.tensor(split.images), params.image_side).to(device),
               torch.from_numpy(split.labels).to(device))
        for split in splits
    ]  # fmt: skip


def measure(params: Params, devices: Devices, train: Split, test: Split) -> list[Curve]:
    """Measure all parts."""
    p, device = params.scaling, devices.devices[0]
    torch.backends.cudnn.deterministic = True  # the same seed, the same bits
    train_set, test_set = image_sets(p.convergence, device, train, test)
    return [
        *measure_parallelism(p, devices, train.first(p.step_batch_sizes[-1]), params.seed),
        *measure_ratio(p.step_batch_sizes),
        *measure_convergence(p.convergence, device, train_set, test_set, params.seed),
        measure_image_time(params, devices, train_set),
    ]


def summarise(curves: Sequence[Curve], params: ScalingParams) -> dict[str, float | str]:
    """Return all parts' metrics."""
    demos: Demos = {}
    for c in curves:
        demos.setdefault(c.demo, {})[c.series] = c
    return (
        parallelism_metrics(demos, params) | ratio_metrics(demos) | convergence_metrics(demos, params.convergence)
    )


def parallelism_metrics(demos: Demos, params: ScalingParams) -> dict[str, float | str]:
    """Return MB moved and held at the larger batch, and the batch at which data parallel begins to move less."""
    moved, held = demos["parallelism_moved_mb"], demos["parallelism_total_mb"]
    rounding = max(float(c.y[0]) for c in demos["parallelism_difference_eps"].values())
    metrics: dict[str, float | str] = {
        "parallelism_one_device_mb": round(float(held[ONE].y[-1]), 4),
        "parallelism_largest_difference_eps": round(rounding, 4),
    }
    for name in moved:
        prefix, (kind, _, devices) = f"parallelism_{key(name)}", name.partition(", ")
        if kind in (DATA, PIPELINE, TENSOR):
            metrics[f"{prefix}_moved_mb"] = round(float(moved[name].y[-1]), 4)
            metrics[f"{prefix}_device_mb"] = round(float(held[name].y[-1]), 4)
        if kind in (PIPELINE, TENSOR):
            crossing = crossing_batch(moved[name], moved[f"{DATA}, {devices}"])
            metrics[f"{prefix}_crossing_images"] = round(crossing, 3)
        if kind in (PIPELINE, _in_micro_batches(params.num_micro_batches)):
            for how in ("idle", "idle_by_flop"):
                metrics[f"{prefix}_{how}_percent"] = round(float(demos[f"parallelism_{how}_percent"][name].y[0]), 3)
    return metrics


def crossing_batch(growing: Curve, level: Curve) -> float:
    """Return the batch size at which a line through two points meets one that does not depend on the batch."""
    slope = (growing.y[-1] - growing.y[0]) / (growing.x[-1] - growing.x[0])
    return float(growing.x[0] + (level.y[0] - growing.y[0]) / slope)


def ratio_metrics(demos: Demos) -> dict[str, float | str]:
    """Return FLOP per parameter byte of an image, and whether the notes' order holds for every pair it ranks."""
    per_image = {name: float(c.y[0]) for name, c in demos["ratio_flop_per_byte"].items()}
    inception, resnet, alexnet = ([per_image[name] for name in names] for names in RANKED)
    holds = min(inception) > max(resnet) and min(resnet) > max(alexnet)
    return {f"ratio_{key(name)}_flop_per_byte": round(value, 3) for name, value in per_image.items()} | {
        "ratio_inception_over_resnet": round(min(inception) / max(resnet), 4),
        "ratio_resnet_over_alexnet": round(min(resnet) / max(alexnet), 4),
        "ratio_notes_order_holds": "yes" if holds else "no",
    }


def convergence_metrics(demos: Demos, params: ConvergenceParams) -> dict[str, float | str]:
    """Return epochs and seconds to the target by rule and batch, what failed, and what the largest batch costs.

    A median over seeds counts runs that failed as longer than all others. In the penalty, epochs at the largest
    batch over those at the smallest with the same seed, they count as the whole budget: it is a lower bound then.
    """
    times = demos["convergence_us_per_image"]["one device"]
    metrics: dict[str, float | str] = {
        "convergence_target_percent": params.target_accuracy_percent,
        "convergence_train_images": params.train_images,
    }
    for n, us, low, high in zip(params.batch_sizes, times.y, times.low, times.high, strict=True):
        metrics[f"convergence_batch_{n}_us_per_image"] = round(float(us), 4)
        metrics[f"convergence_batch_{n}_us_per_image_iqr"] = round(float(high - low), 4)
    for rule in RULES:
        prefix = f"convergence_{key(rule)}"
        seeds = [c for name, c in demos["convergence_epochs"].items() if name.startswith(f"{rule}, seed ")]
        epochs = np.array([np.where(np.isfinite(c.y), c.y, math.inf) for c in seeds])  # (seeds, batch sizes)
        diverged = np.array([c.diverged for c in seeds])
        for i, n in enumerate(params.batch_sizes):
            failure = "diverged" if diverged[:, i].mean() > 0.5 else "not reached"
            for suffix, value in zip(("", "_low", "_high"), spread(epochs[:, i]), strict=True):
                metrics[f"{prefix}_batch_{n}_epochs{suffix}"] = _shown(value, failure)
            seconds = spread(epochs[:, i])[0] * params.train_images * times.y[i] / 1e6
            metrics[f"{prefix}_batch_{n}_seconds"] = _shown(seconds, failure)
        for suffix, value in zip(("", "_low", "_high"), spread(_penalties(epochs, params.max_epochs)), strict=True):
            metrics[f"{prefix}_large_batch_penalty{suffix}"] = round(value, 3)
        metrics[f"{prefix}_large_batch_penalty_is"] = (
            "measured" if np.isfinite(epochs[:, -1]).all() else "a lower bound"
        )
        metrics[f"{prefix}_not_reached_percent"] = round(100 * float((np.isinf(epochs) - diverged).mean()), 3)
        metrics[f"{prefix}_diverged_percent"] = round(100 * float(diverged.mean()), 3)
    return metrics


def spread(values: Sequence[float] | np.ndarray) -> tuple[float, float, float]:
    """Return median (of an even number the higher middle), smallest and largest; infinity is larger than all."""
    ordered = sorted(float(value) for value in values)
    return median_high(ordered), ordered[0], ordered[-1]


def _penalties(epochs: np.ndarray, budget: float) -> np.ndarray:
    capped = np.minimum(epochs, budget)
    return np.asarray(capped[:, -1] / capped[:, 0])


def _shown(value: float, failure: str) -> float | str:
    return round(value, 4) if math.isfinite(value) else failure


def main() -> None:
    """Measure all parts and write rows and metrics."""
    keep_memory()
    params = load(Params)
    p = params.scaling
    devices = resolve(max(p.num_devices), params.devices)
    train = read_fashion_mnist("train").first(p.convergence.train_images)
    test = read_fashion_mnist("t10k").first(p.convergence.test_images)
    curves = measure(params, devices, train, test)
    write_rows(REPORTS / "scaling", rows_of(curves))
    about: dict[str, float | str] = {
        "dataset": dataset_name(), "device_kind": devices.kind, "threads_per_device": devices.threads,
    }  # fmt: skip
    write_metrics(REPORTS / "scaling", about | summarise(curves, p))


if __name__ == "__main__":
    sys.exit(run(main))
