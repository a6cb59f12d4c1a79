"""One run of a recipe, in a process of its own.

The clock starts when the first batch is loaded. It counts loading, warming up and all steps, and
leaves out imports and the evaluation after each epoch.
"""

from collections.abc import Iterable, Iterator

import torch
from torch import Tensor, nn
from torch.utils.data import Subset

from lab.core.shared_params import DeviceParams
from lab.data.datasets import read_fashion_mnist
from lab.data.images import LabelledImages, to_tensors
from lab.data.order import epoch_order
from lab.machine.allocator import disable_malloc_trim
from lab.machine.devices import Devices, allow_tf32, one_device, precision_on, resolve
from lab.nets.models import MODELS, UInt8Input, receptive_size
from lab.timing.clock import read_clock
from lab.training.accuracy import accuracy, logits_of
from lab.training.loop import train
from lab.training.notes_loop import EpochClock, notes_epoch, to_contiguous
from lab.training.steps.by_name import model_and_step
from lab.training.trainer import Trainer
from stages.together.measure.params import Params
from stages.together.measure.recipes import Recipe, RecipeRun

NOTES_WORKERS = 4  # of their loader, where a GPU leaves the processor to it
EpochResult = tuple[float, float | None]  # seconds since the start, accuracy in percent


def train_recipe(recipe: Recipe, seed: int, run: RecipeRun, params: Params) -> list[EpochResult]:
    """Train the run's epochs; at a constant rate until the accuracy is its target.

    Where only a part of an epoch is timed, one pair: the seconds of a whole one and no accuracy.
    """
    p = params.together
    if recipe.keeps_memory:
        disable_malloc_trim()
    devices = devices_of(recipe, params.devices).devices
    allow_tf32(precision_on(devices[0], recipe.precision))
    torch.manual_seed(seed)  # of the notes' loader
    train_images = min(p.train_images, recipe.train_images)
    train_set = to_tensors(read_fashion_mnist("train").first(train_images))
    test_set = to_tensors(read_fashion_mnist("t10k").first(p.test_images))
    recipe = recipe.but(num_epochs=run.num_epochs)
    if recipe.loop == "engine":
        if run.in_part:
            return [(_seconds_of_an_epoch(recipe, seed, p.timed_steps, devices, train_set), None)]
        epochs = _by_the_engine(recipe, seed, devices, train_set, test_set)
    else:
        steps = p.timed_steps if run.in_part else None
        epochs = _by_the_notes(recipe, seed, steps, devices[0], train_set, test_set)
    results = []
    for seconds, percent in epochs:
        results.append((seconds, percent))
        if recipe.schedule == "constant" and percent is not None and percent >= run.target:
            break
    return results


def device() -> torch.device:
    """What one device computes on."""
    return torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")


def devices_of(recipe: Recipe, params: DeviceParams) -> Devices:
    """GPUs, or virtual devices; one that is alone has all cores, unless params say how many."""
    return resolve(recipe.num_gpus, params) if recipe.num_gpus > 1 else one_device(params)


def _by_the_engine(
    recipe: Recipe,
    seed: int,
    devices: list[torch.device],
    train_set: LabelledImages,
    test_set: LabelledImages,
) -> Iterator[EpochResult]:
    """Training's own steps."""
    model, step = model_and_step(_net(recipe, seed), devices, recipe)
    start = read_clock(devices)
    trainer = Trainer(model, step, train_set)
    before = read_clock(devices) - start
    for progress in train(trainer, test_set, seed):
        if not len(progress.losses):  # at an epoch's end
            seconds = before + sum(epoch.seconds for epoch in progress.epochs)
            yield seconds, 100 * progress.epochs[-1].test_accuracy


def _seconds_of_an_epoch(
    recipe: Recipe,
    seed: int,
    num_steps: int,
    devices: list[torch.device],
    train_set: LabelledImages,
) -> float:
    """By its first steps, without the very first if there are more: it makes kernels."""
    trainer = Trainer(*model_and_step(_net(recipe, seed), devices, recipe), train_set)
    batches = epoch_order(trainer.num_images, seed, 1).split(recipe.batch_size)
    some = [rows.to(devices[0]) for rows in batches[: num_steps + 1]]
    rates = [recipe.lr] * len(some)
    losses = torch.zeros(len(some), device=trainer.device)  # elsewhere each step would be awaited
    untimed = min(1, len(some) - 1)
    trainer.take(some[:untimed], rates, losses)
    start = read_clock(devices)
    trainer.take(some, rates, losses, untimed)
    return (read_clock(devices) - start) / (len(some) - untimed) * len(batches)


def _net(recipe: Recipe, seed: int) -> nn.Module:
    return MODELS[recipe.net](torch.Generator().manual_seed(seed))


def _by_the_notes(
    recipe: Recipe,
    seed: int,
    timed_steps: int | None,
    device: torch.device,
    train_set: LabelledImages,
    test_set: LabelledImages,
) -> Iterator[EpochResult]:
    """The notes' loop, over their loader or over images in memory."""
    net = to_contiguous(_net(recipe, seed)).to(device)
    num_images = len(train_set[1])
    whole = -(-num_images // recipe.batch_size)
    seconds = 0.0
    for epoch in range(1, recipe.num_epochs + 1):
        workers = NOTES_WORKERS if device.type == "cuda" and recipe.loop == "loader" else 0
        steps = timed_steps or whole
        clock = EpochClock.of([device], num_images, recipe.batch_size, steps, workers)
        side = receptive_size(net) if recipe.crops else None
        order = epoch_order(num_images, seed, epoch)
        batches = _batches(recipe, train_set, order, workers, side)
        seconds += whole * notes_epoch(net, batches, recipe.lr, clock)
        if timed_steps:
            yield seconds, None
            return
        logits = logits_of(UInt8Input(net), test_set[0].to(device))
        yield seconds, 100 * accuracy(logits.cpu(), test_set[1])


def _batches(
    recipe: Recipe, train_set: LabelledImages, order: Tensor, num_workers: int, side: int | None
) -> Iterable[tuple[Tensor, Tensor]]:
    """The batches of an epoch: loaded as the notes do, or made from bytes in memory.

    Of images in memory only the first `side` rows and columns, if it is given.
    """
    if recipe.loop == "loader":
        # torchvision takes a second to import, which other recipes need not spend
        from lab.data import loaders

        images = Subset(loaders.book_images(), range(len(order)))
        return loaders.loader(images, recipe.batch_size, num_workers)
    bytes_, labels = train_set
    return (
        (bytes_[rows, :side, :side].unsqueeze(1).to(torch.float32).div_(255), labels[rows])
        for rows in order.split(recipe.batch_size)
    )
