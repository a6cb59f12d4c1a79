"""One run of a recipe in its own process.

The clock starts when the first batch is loaded. It counts loading, warm-up and all steps, but not
imports or the evaluation after each epoch.
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

NOTES_WORKERS = 4  # of the notes' loader, if a GPU leaves the CPU free
EpochResult = tuple[float, float | None]  # seconds since the start, accuracy in percent


def train_recipe(recipe: Recipe, seed: int, run: RecipeRun, params: Params) -> list[EpochResult]:
    """Train the run's epochs; at a constant rate, stop once the target accuracy is reached.

    If only a part of an epoch is timed, return one pair: the seconds of a whole epoch and None.
    """
    p = params.together
    if recipe.keeps_memory:
        disable_malloc_trim()
    devices = devices_of(recipe, params.devices).devices
    allow_tf32(precision_on(devices[0], recipe.precision))
    torch.manual_seed(seed)  # for the notes' loader
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
    return torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")


def devices_of(recipe: Recipe, params: DeviceParams) -> Devices:
    """Return GPUs or virtual devices; a single one has all cores unless params limit them."""
    return resolve(recipe.num_gpus, params) if recipe.num_gpus > 1 else one_device(params)


def _by_the_engine(
    recipe: Recipe,
    seed: int,
    devices: list[torch.device],
    train_set: LabelledImages,
    test_set: LabelledImages,
) -> Iterator[EpochResult]:
    """Train with the lab's own steps."""
    model, step = model_and_step(_net(recipe, seed), devices, recipe)
    start = read_clock(devices)
    trainer = Trainer(model, step, train_set)
    before = read_clock(devices) - start
    for progress in train(trainer, test_set, seed):
        if not len(progress.losses):  # the end of an epoch
            seconds = before + sum(epoch.seconds for epoch in progress.epochs)
            yield seconds, 100 * progress.epochs[-1].test_accuracy


def _seconds_of_an_epoch(
    recipe: Recipe,
    seed: int,
    num_steps: int,
    devices: list[torch.device],
    train_set: LabelledImages,
) -> float:
    """Estimate from the first steps, if possible without the very first, which builds kernels."""
    trainer = Trainer(*model_and_step(_net(recipe, seed), devices, recipe), train_set)
    batches = epoch_order(trainer.num_images, seed, 1).split(recipe.batch_size)
    some = [rows.to(devices[0]) for rows in batches[: num_steps + 1]]
    rates = [recipe.lr] * len(some)
    losses = torch.zeros(len(some), device=trainer.device)  # elsewhere, each step would synchronize
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
    """Train with the notes' loop, over their loader or images in memory."""
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
    """Return the batches of an epoch: loaded as in the notes, or made from bytes in memory.

    If `side` is given, images in memory are cut to their first `side` rows and columns.
    """
    if recipe.loop == "loader":
        # torchvision takes a second to import; other recipes do not need it
        from lab.data import loaders

        images = Subset(loaders.book_images(), range(len(order)))
        return loaders.loader(images, recipe.batch_size, num_workers)
    bytes_, labels = train_set
    return (
        (bytes_[rows, :side, :side].unsqueeze(1).to(torch.float32).div_(255), labels[rows])
        for rows in order.split(recipe.batch_size)
    )
