"""How fast images arrive: from the book's loader, two variants of it, and resident on a device."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import torch
from torch.utils.data import Subset

from lab.data.datasets import FASHION_COUNTS
from lab.data.images import LabelledImages, to_float
from lab.data.loaders import BOOK_WORKERS, book_images, loader
from lab.data.order import shuffled
from lab.machine.devices import Devices, usable_cores
from lab.results.measurements import Measurement
from lab.timing.bench import turns
from lab.timing.clock import read_clock
from stages.bench_input.names import (
    BOOK,
    EPOCH,
    FIRST_BATCH,
    IMAGES,
    NO_WORKERS,
    PERSISTENT,
    RESIDENT,
)
from stages.bench_input.params import Params

Batches = Iterable[LabelledImages]
Feed = Callable[[], Batches]  # starts an epoch


def feeds(num_images: int, batch_size: int, resident: LabelledImages) -> dict[str, Feed]:
    """Each arm's feed: a loader's of `num_images` images, or of all the resident ones."""
    some = Subset(book_images(), range(num_images))
    kept = loader(some, batch_size, BOOK_WORKERS, keep=True)
    return {
        BOOK: lambda: loader(some, batch_size, BOOK_WORKERS),
        PERSISTENT: lambda: kept,
        NO_WORKERS: lambda: loader(some, batch_size, 0),
        RESIDENT: lambda: resident_batches(resident, batch_size),
    }


def resident_batches(resident: LabelledImages, batch_size: int) -> Iterator[LabelledImages]:
    """Shuffled batches of images (n, 28, 28) that lie on a device as bytes, scaled there."""
    images, labels = resident
    order = shuffled(len(labels), torch.default_generator).to(images.device)
    for rows in order.split(batch_size):
        yield to_float(images.index_select(0, rows)), labels.index_select(0, rows)


@dataclass(frozen=True)
class Pass:
    """Seconds of a pass: to the first batch, per image after it, and after the last batch.

    When the first batch arrives, workers have others nearly ready, so a short pass flatters them a
    little.
    """

    first_s: float
    per_image_s: float
    end_s: float

    def epoch_s(self, num_images: int, batch_size: int) -> float:
        """Seconds of an epoch of `num_images`: workers start and stop once in it."""
        return self.first_s + self.per_image_s * max(0, num_images - batch_size) + self.end_s


def time_pass(feed: Feed, device: torch.device) -> Pass:
    """The times of one pass in which nothing is done with a batch but bring it to `device`.

    Raises:
        ValueError: fewer than two batches, so that none comes after the first.
    """
    start = read_clock([device])
    times, counts = [], []
    for X, y in feed():
        X.to(device, non_blocking=True), y.to(device, non_blocking=True)
        times.append(time.perf_counter())
        counts.append(len(y))
    end = read_clock([device])
    if len(times) < 2:
        raise ValueError("expected at least two batches")
    return Pass(times[0] - start, (times[-1] - times[0]) / sum(counts[1:]), end - times[-1])


def measure_feeds(params: Params, resident: LabelledImages, devices: Devices) -> list[Measurement]:
    """Time passes of each feed in turn, with all the processor's cores free for it."""
    p, device, cores = params.bench_input, devices.devices[0], usable_cores()
    torch.set_num_threads(cores)
    arms = feeds(p.num_images, p.batch_size, resident)
    passes: dict[str, list[Pass]] = {arm: [] for arm in arms}
    for feed in arms.values():
        time_pass(feed, device)  # workers that stay have started, files are in memory
    for arm in turns(arms, params.bench.rounds):
        passes[arm].append(time_pass(arms[arm], device))
    torch.set_num_threads(devices.threads)
    measured = []
    for arm, taken in passes.items():
        epochs = [t.epoch_s(FASHION_COUNTS["train"], p.batch_size) for t in taken]
        for demo, values, unit in (
            (FIRST_BATCH, [1e3 * t.first_s for t in taken], "ms"),
            (IMAGES, [1 / t.per_image_s for t in taken], "images/s"),
            (EPOCH, epochs, "s"),
        ):
            measured.append(
                Measurement(demo, arm, p.batch_size, tuple(values), unit, devices.kind, cores)
            )
    return measured
