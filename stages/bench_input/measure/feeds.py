"""The rate at which images arrive: from the book's loader, two variants of it, and from memory.

Nothing is computed with the images. The book's loader and images kept in memory pass an epoch or a
large part of one. The others pass a smaller part, and we extrapolate their epochs.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from PIL import Image
from torch import Tensor
from torch.utils.data import Subset

from lab.data.datasets import FASHION_COUNTS
from lab.data.images import LabelledImages
from lab.data.loaders import BOOK_WORKERS, book_images, loader
from lab.data.order import shuffled
from lab.machine.devices import Devices, usable_cores
from lab.results.measurements import Measurement, again
from lab.timing.bench import balanced_turns
from lab.timing.clock import read_clock
from stages.bench_input.measure.names import BOOK, NO_WORKERS, PERSISTENT, RESIDENT
from stages.bench_input.measure.params import Params

Feed = Callable[[], Iterable[LabelledImages]]  # starts a pass
OF_AN_EPOCH = (BOOK, RESIDENT, again(RESIDENT))
CPU = [torch.device("cpu")]


def feeds(num_images: int, batch_size: int, resident: LabelledImages) -> dict[str, Feed]:
    """Return each variant's feed of the first `num_images` images."""
    some = Subset(book_images(), range(num_images))
    kept = loader(some, batch_size, BOOK_WORKERS, keep=True)
    images, labels = resident
    return {
        BOOK: lambda: loader(some, batch_size, BOOK_WORKERS),
        PERSISTENT: lambda: kept,
        NO_WORKERS: lambda: loader(some, batch_size, 0),
        RESIDENT: lambda: resident_batches((images[:num_images], labels[:num_images]), batch_size),
    }


def resident_batches(resident: LabelledImages, batch_size: int) -> Iterator[LabelledImages]:
    """Yield shuffled batches of images (n, 28, 28) kept on a device as bytes, scaled there.

    They have the loader's memory layout, so that a step computes the same way with both.
    """
    images, labels = resident
    order = shuffled(len(labels), torch.default_generator).to(images.device)
    for rows in order.split(batch_size):
        X = images.index_select(0, rows).to(torch.float32).div_(255).unsqueeze(1)
        yield X, labels.index_select(0, rows)


def measure_feeds(
    params: Params, resident: LabelledImages, devices: Devices, process: int
) -> list[Measurement]:
    """Time a pass of each feed with all cores; of resident images, several whole epochs.

    x: the images of a pass.
    """
    p, device, cores = params.bench_input, devices.devices[0], usable_cores()
    torch.set_num_threads(cores)
    sizes = (len(resident[1]), p.epoch_images, p.rate_images, 2 * p.batch_size)
    whole, books, part, first = (feeds(size, p.batch_size, resident) for size in sizes)
    kept = dict.fromkeys((RESIDENT, again(RESIDENT)), whole[RESIDENT])
    variants = part | {BOOK: books[BOOK]} | kept
    images = dict.fromkeys(part, sizes[2]) | {BOOK: sizes[1]} | dict.fromkeys(kept, sizes[0])
    for feed in (first[BOOK], first[NO_WORKERS], variants[PERSISTENT], variants[RESIDENT]):
        time_pass(feed, device)  # so that files are in memory and persistent workers have started
    passes = {}
    for variant in balanced_turns(list(variants), 1, process):
        # an epoch of resident images is too short to time only once
        count = params.bench.rounds if variant.startswith(RESIDENT) else 1
        passes[variant] = [time_pass(variants[variant], device) for _ in range(count)]
    torch.set_num_threads(devices.threads)
    measured = []
    for variant, taken in passes.items():
        x = images[variant]
        experiments: list[tuple[str, list[float], str]] = []
        if variant in OF_AN_EPOCH:
            experiments.append(("epoch", [t.epoch_s(x) for t in taken], "s"))
        if variant != again(RESIDENT):  # the epoch's noise control
            experiments += [
                ("first_batch", [1e3 * t.first_s for t in taken], "ms"),
                ("images", [1 / t.per_image_s for t in taken], "images/s"),
            ]
        measured += [
            Measurement(experiment, variant, x, tuple(values), unit, devices.kind, cores)
            for experiment, values, unit in experiments
        ]
    return measured


@dataclass(frozen=True)
class Pass:
    """Seconds of a pass: until the first batch, per image after it, and in total.

    When the first batch arrives, workers have others nearly ready, so a short pass flatters them a
    little.
    """

    first_s: float
    per_image_s: float
    whole_s: float

    def epoch_s(self, images: int) -> float:
        """Return the seconds per epoch: this pass of `images`, and the rest at its rate."""
        return self.whole_s + self.per_image_s * (FASHION_COUNTS["train"] - images)


def time_pass(feed: Feed, device: torch.device) -> Pass:
    """Time one pass that only moves each batch to `device`.

    Raises:
        ValueError: fewer than two batches, so that none comes after the first.
    """
    start = read_clock([device])
    times, counts = [], []
    for X, y in feed():
        X.to(device, non_blocking=True), y.to(device, non_blocking=True)
        times.append(read_clock([device]))
        counts.append(len(y))
    end = read_clock([device])
    if len(times) < 2:
        raise ValueError("expected at least two batches")
    return Pass(times[0] - start, (times[-1] - times[0]) / sum(counts[1:]), end - start)


# --- what torchvision's data set does for each image, in two loops ---


def prepare(stored: Any, batch_size: int) -> dict[str, float]:
    """Time reading a random batch's images one by one, and making a float tensor of them.

    `stored` is torchvision's training set: bytes in memory as `data`, and a `transform`.
    """
    rows = torch.randint(len(stored.data), (batch_size,)).tolist()
    start = read_clock(CPU)
    read = read_images(stored.data, rows)
    between = read_clock(CPU)
    preprocess(read, stored.transform)
    return {"read": between - start, "preprocess": read_clock(CPU) - between}


def read_images(data: Tensor, rows: list[int]) -> list[Any]:
    """Return each image's bytes as an array (28, 28)."""
    return [data[row].numpy() for row in rows]


def preprocess(read: list[Any], transform: Any) -> Tensor:
    """Make a PIL image and a float tensor of each image; stack these to (n, 1, 28, 28)."""
    return torch.stack([transform(Image.fromarray(each)) for each in read])
