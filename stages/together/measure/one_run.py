"""One run of a rung, in a process of its own."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.utils.data import Subset

from lab.core.shared_params import DeviceParams
from lab.data.datasets import read_fashion_mnist
from lab.data.images import LabelledImages, to_tensors
from lab.data.order import epoch_order
from lab.machine.allocator import disable_malloc_trim
from lab.machine.devices import (
    Devices,
    allow_tf32,
    computes_in_bf16,
    precision_on,
    processor,
    resolve,
    usable_cores,
)
from lab.nets.models import MODELS, receptive_size
from lab.parallel.replicas import replicate
from lab.timing.clock import read_clock
from lab.training.loop import Plan, predict, train
from lab.training.notes_loop import EpochClock, notes_epoch, to_contiguous
from lab.training.steps import Stepper
from lab.training.strategies.base import Recipe
from lab.training.strategies.replicas import Replicas
from stages.together.measure import names
from stages.together.measure.ladder import Rung, ladder, record_of
from stages.together.measure.params import Params

NOTES_WORKERS = 4  # of their loader, where a GPU leaves the processor to it
EpochResult = tuple[float, float | None]


def records(params: Params) -> list[Rung]:
    """The records that this stage measures, as far as params.yaml has them."""
    runs = params.train.runs
    return [
        record_of(name, runs[name], precision_on(device(), runs[name].precision))
        for name in names.RECORDS
        if name in runs
    ]


def rungs(params: Params) -> list[Rung]:
    """The ladder, and the records behind it."""
    return [*ladder(computes_in_bf16(device())), *records(params)]


def device() -> torch.device:
    """What one device computes on."""
    return torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")


def devices_of(rung: Rung, params: DeviceParams) -> Devices:
    """GPUs, or virtual devices; one that is alone has all cores, unless params say how many."""
    if torch.cuda.is_available() or rung.num_devices > 1:
        return resolve(rung.num_devices, params)
    return processor(usable_cores() if params.cpu_threads == "auto" else params.cpu_threads)


@dataclass(frozen=True)
class Run:
    """What a process trains: a rung for `num_epochs` epochs, or `timed_steps` of the first one."""

    rung: Rung
    seed: int
    num_epochs: int
    timed_steps: int | None
    devices: list[torch.device]
    train_set: LabelledImages
    test_set: LabelledImages


def epochs_of(
    rung: Rung, seed: int, target: int, num_epochs: int, in_part: bool, params: Params
) -> list[EpochResult]:
    """Train `num_epochs` epochs; at a constant rate until the accuracy is `target` percent.

    For each epoch the seconds of training since the start, and the accuracy in percent; where only
    a part of an epoch is timed one pair, the seconds of a whole one and no accuracy.
    """
    p = params.together
    if rung.keeps_memory:
        disable_malloc_trim()
    devices = devices_of(rung, params.devices).devices
    allow_tf32(rung.precision)
    torch.manual_seed(seed)  # of the notes' loader
    train_images = min(p.train_images, rung.train_images)
    run = Run(
        rung,
        seed,
        num_epochs,
        p.timed_steps if in_part else None,
        devices,
        to_tensors(read_fashion_mnist("train").first(train_images)),
        to_tensors(read_fashion_mnist("t10k").first(p.test_images)),
    )
    results = []
    for seconds, accuracy in _engine(run) if rung.loop == "engine" else _notes_loop(run):
        results.append((seconds, accuracy))
        if rung.schedule == "constant" and accuracy is not None and accuracy >= target:
            break
    return results


def _engine(run: Run) -> Iterator[EpochResult]:
    """Training's own steps."""
    rung, devices = run.rung, run.devices
    net = MODELS[rung.net](torch.Generator().manual_seed(run.seed))
    recipe = Recipe(
        rung.precision,
        momentum=rung.momentum,
        weight_decay=rung.weight_decay,
        label_smoothing=rung.label_smoothing,
    )
    strategy = Replicas(net, devices, recipe)
    start = read_clock(devices)
    stepper = Stepper(strategy, run.train_set, rung.batch_size, rung.lr)
    if run.timed_steps:
        batches = epoch_order(stepper.num_images, run.seed, 1).split(rung.batch_size)
        some = [rows.to(devices[0]) for rows in batches[: run.timed_steps]]
        start = read_clock(devices)  # an epoch does not warm up
        stepper.take(some, [rung.lr] * len(some), torch.zeros(len(some)))
        yield (read_clock(devices) - start) / len(some) * len(batches), None
        return
    before = read_clock(devices) - start
    plan = Plan(rung.batch_size, rung.lr, run.num_epochs, run.seed, rung.schedule, rung.augment)
    for progress in train(stepper, run.test_set, plan):
        seconds = before + sum(epoch.seconds for epoch in progress.epochs)
        yield seconds, 100 * progress.epochs[-1].test_accuracy


def _notes_loop(run: Run) -> Iterator[EpochResult]:
    """The notes' loop, over their loader or over images in memory."""
    rung, [device] = run.rung, run.devices
    net = MODELS[rung.net](torch.Generator().manual_seed(run.seed))
    net = to_contiguous(net).to(device)
    num_images = len(run.train_set[1])
    whole = -(-num_images // rung.batch_size)
    seconds = 0.0
    for epoch in range(1, run.num_epochs + 1):
        workers = NOTES_WORKERS if device.type == "cuda" and rung.loop == "loader" else 0
        steps = run.timed_steps or whole
        clock = EpochClock.of([device], num_images, rung.batch_size, steps, workers)
        side = receptive_size(net) if rung.crops else None
        order = epoch_order(num_images, run.seed, epoch)
        batches = _batches(rung, run.train_set, order, workers, side)
        seconds += whole * notes_epoch(net, batches, rung.lr, clock)
        if run.timed_steps:
            yield seconds, None
            return
        evaluated = Replicas(replicate(net, device), [device])
        right = predict(evaluated, run.test_set[0].to(device)).argmax(1) == run.test_set[1]
        evaluated.close()
        yield seconds, 100 * right.double().mean().item()


def _batches(
    rung: Rung, train_set: LabelledImages, order: Tensor, num_workers: int, side: int | None
) -> Iterable[tuple[Tensor, Tensor]]:
    """The batches of an epoch: loaded as the notes do, or made from bytes in memory.

    Of images in memory only the first `side` rows and columns, if it is given.
    """
    if rung.loop == "loader":
        # torchvision takes a second to import, which other rungs need not spend
        from lab.data import loaders

        images = Subset(loaders.book_images(), range(len(order)))
        return loaders.loader(images, rung.batch_size, num_workers)
    bytes_, labels = train_set
    return (
        (bytes_[rows, :side, :side].unsqueeze(1).to(torch.float32).div_(255), labels[rows])
        for rows in order.split(rung.batch_size)
    )
