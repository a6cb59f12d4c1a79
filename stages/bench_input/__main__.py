"""Run the stage: `python -m stages.bench_input`."""

import sys
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

from lab.core.exit_codes import run
from lab.core.files import REPORTS, write_metrics, write_rows
from lab.core.params import load
from lab.data import loaders
from lab.data.datasets import FASHION_COUNTS, dataset_name, read_fashion_mnist
from lab.data.images import to_float
from lab.data.loaders import BOOK, RESIDENT, Batches, Pass, time_pass
from lab.machine.devices import Devices, resolve, usable_cores
from lab.nets.models import MODELS
from lab.parallel.device_workers import crew
from lab.parallel.replicas import replicate
from lab.results.curves import key
from lab.results.measurements import Measurement, Results, rows_of
from lab.timing import bench
from stages.bench_input.params import Params
from stages.bench_input.step_parts import PARTS, evaluation_s, step_parts

EPOCH, EVALUATED = FASHION_COUNTS["train"], FASHION_COUNTS["t10k"]
EVALUATION = "evaluation"
NETS = {"lenet": "LeNet", "resnet18": "ResNet-18"}


def measure_loading(
    params: Params, images: Tensor, labels: Tensor, devices: Devices
) -> list[Measurement]:
    """Time passes over the images in each way, in turn, with all the processor's cores free for
    it.
    """
    p, device = params.bench_input, devices.devices[0]
    torch.set_num_threads(usable_cores())
    ways = loaders.ways(p.num_images, p.batch_size, images, labels)
    passes: dict[str, list[Pass]] = {name: [] for name in ways}
    for start_epoch in ways.values():
        time_pass(start_epoch, device)  # workers that stay have started, files are in memory
    for name in bench.turns(ways, params.bench.rounds):
        passes[name].append(time_pass(ways[name], device))
    torch.set_num_threads(devices.threads)
    measured = []
    for name, taken in passes.items():
        samples = {
            "first_batch": ([1e3 * t.first_s for t in taken], "ms"),
            "images": ([1 / t.per_image_s for t in taken], "images/s"),
            "epoch": ([t.epoch_s(EPOCH, p.batch_size) for t in taken], "s"),
        }
        measured += [
            Measurement(demo, name, p.batch_size, tuple(values), unit, devices.kind, usable_cores())
            for demo, (values, unit) in samples.items()
        ]
    return measured


def measure_steps(
    params: Params, images: Tensor, labels: Tensor, devices: Devices
) -> list[Measurement]:
    """Time the parts of training steps of both networks, fed by the book's loader and by resident
    images.
    """
    measured, p = [], params.bench_input
    with crew(len(devices.devices), devices.threads) as pool:
        for name, title in NETS.items():
            batch_size = p.resnet_batch_size if name == "resnet18" else p.batch_size
            net = MODELS[name](torch.Generator().manual_seed(params.seed))
            replicas = [replicate(net, device) for device in devices.devices]
            ways = loaders.ways(EPOCH, batch_size, images, labels)
            for way in (BOOK, RESIDENT):
                feed = _endless(ways[way])
                for _ in range(2):
                    step_parts(feed, replicas, devices.devices, 0.01, pool)
                steps = [
                    step_parts(feed, replicas, devices.devices, 0.01, pool) for _ in range(p.steps)
                ]
                measured += [
                    Measurement(
                        f"step, {way}",
                        f"{title}: {part}",
                        batch_size,
                        tuple(1e3 * s[part] for s in steps),
                        "ms",
                        devices.kind,
                        devices.threads,
                    )
                    for part in PARTS
                ]
            X = to_float(images[:batch_size])
            per_image = [evaluation_s(replicas[0].eval(), X) for _ in range(p.steps + 2)][2:]
            share = EVALUATED / -(-EPOCH // batch_size)  # test images per training step
            values = tuple(1e3 * t * share / len(replicas) for t in per_image)
            measured.append(
                Measurement(
                    EVALUATION, title, batch_size, values, "ms", devices.kind, devices.threads
                )
            )
    return measured


def _endless(start_epoch: Callable[[], Batches]) -> Iterator[tuple[Tensor, Tensor]]:
    while True:
        yield from start_epoch()


def summarise(measurements: Sequence[Measurement]) -> dict[str, float | str]:
    """Return images per second of each way, how much faster resident images are, and each step's
    parts.
    """
    results = Results(measurements)
    metrics: dict[str, float | str] = {}
    for name in results.arms("images"):
        rate = results.one("images", name)
        if rate:
            metrics |= bench.median_metrics(f"{key(name)}_images_per_s", rate.values)
    book, resident = results.one("epoch", BOOK), results.one("epoch", RESIDENT)
    if book and resident:
        metrics |= bench.ratio_metrics("resident_over_book", bench.speedup_of(book, resident))
    for demo in ("first_batch", "epoch"):
        for name in (BOOK, RESIDENT):
            m = results.one(demo, name)
            if m:
                metrics |= bench.median_metrics(f"{key(name)}_{demo}_{m.unit}", m.values)
    for way in (BOOK, RESIDENT):
        for name in results.arms(f"step, {way}"):
            m = results.one(f"step, {way}", name)
            if m:
                metrics[f"{key(way)}_{key(name.replace(':', ''))}_ms"] = round(m.summary.median, 4)
    for name in results.arms(EVALUATION):
        m = results.one(EVALUATION, name)
        if m:
            metrics[f"{key(name)}_evaluation_ms"] = round(m.summary.median, 4)
    return metrics


def main() -> None:
    """Measure and write rows and metrics."""
    params = load(Params)
    watch, devices = (
        bench.Watch(),
        resolve(1 if torch.cuda.device_count() == 1 else 2, params.devices),
    )
    split = read_fashion_mnist("train")
    images = torch.tensor(split.images).to(devices.devices[0])
    labels = torch.from_numpy(split.labels).to(devices.devices[0])
    measured = [
        *measure_loading(params, images, labels, devices),
        *measure_steps(params, images, labels, devices),
    ]
    rows = torch.arange(params.bench_input.batch_size, device=images.device)
    measured += bench.noise_control(
        lambda: to_float(images.index_select(0, rows)), devices, params.bench
    )
    write_rows(REPORTS / "bench_input", rows_of(measured))
    head = {"dataset": dataset_name(), **bench.conditions(measured, devices, watch)}
    write_metrics(REPORTS / "bench_input", head | summarise(measured))


if __name__ == "__main__":
    sys.exit(run(main))
