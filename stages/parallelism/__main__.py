"""Run the stage: `python -m stages.parallelism`."""

import copy
import sys
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import torch
from torch import nn

from lab.core.exit_codes import run
from lab.core.files import REPORTS, write_metrics, write_rows
from lab.core.params import load
from lab.data.datasets import Split, dataset_name, read_fashion_mnist
from lab.data.images import to_float
from lab.machine.devices import Devices, resolve
from lab.machine.torchvision_import import torchvision
from lab.nets.flops import training_flop
from lab.nets.models import MODELS, LeNet
from lab.results.curves import Curve, key, line, rows_of
from stages.parallelism.kinds import (
    Kind,
    data_parallel,
    difference,
    flop_of_parts,
    idle_share,
    pipeline,
    schedule,
    tensor_parallel,
)
from stages.parallelism.params import ParallelismParams, Params

ONE, DATA, PIPELINE, TENSOR = "one device", "data parallel", "pipeline", "tensor parallel"
# by the notes
RANKED = (("GoogLeNet (Inception v1)", "Inception v3"), ("ResNet-18", "ResNet-50"), ("AlexNet",))
Demos = dict[str, dict[str, Curve]]
Networks = dict[str, tuple[nn.Module, tuple[int, ...]]]


def measure_kinds(
    params: ParallelismParams, devices: Devices, images: Split, seed: int
) -> Iterator[Curve]:
    """Yield, for each kind of parallelism, MB moved and held by batch size, and the gradient's
    difference.
    """
    net, sizes = LeNet(torch.Generator().manual_seed(seed)), params.batch_sizes
    X, y = to_float(torch.tensor(images.images)), torch.from_numpy(images.labels)
    kinds: dict[str, Kind] = {
        DATA: data_parallel,
        PIPELINE: pipeline,
        _in_micro_batches(params.num_micro_batches): partial(
            pipeline, num_micro_batches=params.num_micro_batches
        ),
        TENSOR: tensor_parallel,
    }
    arms: list[tuple[str, Kind, int]] = [(ONE, data_parallel, 1)]
    arms += [
        (f"{name}, {k} devices", kind, k)
        for k in params.num_devices
        for name, kind in kinds.items()
    ]
    exact, few = copy.deepcopy(net).double(), (X[: sizes[0]].double(), y[: sizes[0]])
    reference = data_parallel(exact, *few, devices.devices[:1])
    for name, kind, k in arms:
        steps = [kind(net, X[:n], y[:n], devices.devices[:k]) for n in sizes]
        yield line("moved_mb", name, sizes, [sum(step.moved.values()) / 1e6 for step in steps])
        for part in ("total", "params", "activations"):
            held = [max(getattr(m, part) for m in step.memory) / 1e6 for step in steps]
            yield line(f"{part}_mb", name, sizes, held)
        rounding = (
            difference(kind(exact, *few, devices.devices[:k]), reference) / np.finfo(float).eps
        )
        yield line("difference_eps", name, sizes[:1], [rounding])
        yield line("idle_percent", name, sizes, [100 * step.idle for step in steps])
    for k in params.num_devices:
        for name, micro_batches in (
            (PIPELINE, 1),
            (_in_micro_batches(params.num_micro_batches), params.num_micro_batches),
        ):
            units = schedule(flop_of_parts(net, k), micro_batches)
            idle = 100 * idle_share(units)
            yield line("idle_by_flop_percent", f"{name}, {k} devices", sizes[:1], [idle])


def _in_micro_batches(count: int) -> str:
    return f"{PIPELINE} of {count} micro-batches"


def networks() -> Networks:
    """Return the networks whose ratio is counted, each with the shape of its images; no weights are
    drawn.
    """
    generator, models = torch.Generator(), torchvision.models
    with torch.device("meta"):
        published: dict[str, tuple[nn.Module, int]] = {
            "AlexNet": (models.alexnet(), 224),
            "GoogLeNet (Inception v1)": (
                models.googlenet(init_weights=False, aux_logits=False),
                224,
            ),
            "Inception v3": (models.inception_v3(init_weights=False, aux_logits=False), 299),
            "ResNet-18": (models.resnet18(), 224),
            "ResNet-50": (models.resnet50(), 224),
        }
    notes = {
        "LeNet": MODELS["lenet"](generator),
        "ResNet-18 (28 x 28)": MODELS["resnet18"](generator),
    }
    small: Networks = {name: (net, (1, 28, 28)) for name, net in notes.items()}
    return small | {name: (net, (3, side, side)) for name, (net, side) in published.items()}


def measure_ratio(batch_sizes: Sequence[int]) -> Iterator[Curve]:
    """Yield each network's FLOP per byte of parameters by images per step, and both alone; nothing
    is computed.
    """
    images = [1, *batch_sizes]
    for name, (net, shape) in networks().items():
        flop, size = (
            training_flop(net.eval(), (1, *shape)),
            4 * sum(p.numel() for p in net.parameters()),
        )
        yield line("ratio_flop_per_byte", name, images, [n * flop / size for n in images])
        yield line("ratio_counted", name, [size / 1e6], [flop / 1e9])


def measure(params: Params, devices: Devices, images: Split) -> list[Curve]:
    """Measure both parts."""
    torch.backends.cudnn.deterministic = True  # the same seed, the same bits
    p = params.parallelism
    return [*measure_kinds(p, devices, images, params.seed), *measure_ratio(p.batch_sizes)]


def summarise(curves: Sequence[Curve], params: ParallelismParams) -> dict[str, float | str]:
    """Return both parts' metrics."""
    demos: Demos = {}
    for c in curves:
        demos.setdefault(c.demo, {})[c.series] = c
    return kinds_metrics(demos, params) | ratio_metrics(demos)


def kinds_metrics(demos: Demos, params: ParallelismParams) -> dict[str, float | str]:
    """Return MB moved and held at the larger batch, and the batch at which data parallel begins to
    move less.
    """
    moved, held = demos["moved_mb"], demos["total_mb"]
    rounding = max(float(c.y[0]) for c in demos["difference_eps"].values())
    metrics: dict[str, float | str] = {
        "one_device_mb": round(float(held[ONE].y[-1]), 4),
        "largest_difference_eps": round(rounding, 4),
    }
    for name in moved:
        prefix, (kind, _, devices) = key(name), name.partition(", ")
        if kind in (DATA, PIPELINE, TENSOR):
            metrics[f"{prefix}_moved_mb"] = round(float(moved[name].y[-1]), 4)
            metrics[f"{prefix}_device_mb"] = round(float(held[name].y[-1]), 4)
        if kind in (PIPELINE, TENSOR):
            crossing = crossing_batch(moved[name], moved[f"{DATA}, {devices}"])
            metrics[f"{prefix}_crossing_images"] = round(crossing, 3)
        if kind in (PIPELINE, _in_micro_batches(params.num_micro_batches)):
            for how in ("idle", "idle_by_flop"):
                metrics[f"{prefix}_{how}_percent"] = round(
                    float(demos[f"{how}_percent"][name].y[0]), 3
                )
    return metrics


def crossing_batch(growing: Curve, level: Curve) -> float:
    """Return the batch size at which a line through two points meets one that does not depend on
    the batch.
    """
    slope = (growing.y[-1] - growing.y[0]) / (growing.x[-1] - growing.x[0])
    return float(growing.x[0] + (level.y[0] - growing.y[0]) / slope)


def ratio_metrics(demos: Demos) -> dict[str, float | str]:
    """Return FLOP per parameter byte of an image, and whether the notes' order holds for every pair
    it ranks.
    """
    per_image = {name: float(c.y[0]) for name, c in demos["ratio_flop_per_byte"].items()}
    inception, resnet, alexnet = ([per_image[name] for name in names] for names in RANKED)
    holds = min(inception) > max(resnet) and min(resnet) > max(alexnet)
    return {
        f"ratio_{key(name)}_flop_per_byte": round(value, 3) for name, value in per_image.items()
    } | {
        "ratio_inception_over_resnet": round(min(inception) / max(resnet), 4),
        "ratio_resnet_over_alexnet": round(min(resnet) / max(alexnet), 4),
        "ratio_notes_order_holds": "yes" if holds else "no",
    }


def main() -> None:
    """Count both parts and write rows and metrics."""
    params = load(Params)
    p = params.parallelism
    devices = resolve(max(p.num_devices), params.devices)
    curves = measure(params, devices, read_fashion_mnist("train").first(p.batch_sizes[-1]))
    write_rows(REPORTS / "parallelism", rows_of(curves))
    about: dict[str, float | str] = {
        "dataset": dataset_name(),
        "device_kind": devices.kind,
        "threads_per_device": devices.threads,
    }
    write_metrics(REPORTS / "parallelism", about | summarise(curves, p))


if __name__ == "__main__":
    sys.exit(run(main))
