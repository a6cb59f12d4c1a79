"""Test accuracy after equally many images: by the age of the gradients, and by ResNet-18's stem."""

from collections.abc import Iterator
from itertools import product

import torch
from torch import Tensor, nn

from lab.core.shared_params import Stem
from lab.data.images import Images
from lab.data.order import batches
from lab.nets.resnet import resnet18
from lab.parallel.workers import map_with_progress
from lab.results.curves import Curve, line
from lab.training.short_training import SmallLeNet, accuracy_of
from lab.training.update_steps import StaleSteps, Step, sgd_step
from stages.convergence.measure.names import BY_STEM, SHORT_RUN, STEMS, stale
from stages.convergence.measure.params import ConvergenceParams, StemParams

CHANCE = 10.0  # the percentage that weights are worth which left the finite numbers


def measure_short_runs(
    params: ConvergenceParams, train_set: Images, test_set: Images, seed: int
) -> Iterator[Curve]:
    """LeNet's test accuracy (percent) after `short_images` at the smallest batch, by seed."""
    batch_size, lr = params.lenet.batch_sizes[0], params.lenet.lr
    num_steps = max(1, params.short_images // batch_size)

    def accuracy(job: tuple[int, int]) -> float:
        staleness, i = job
        generator = torch.Generator().manual_seed(seed + i)
        net = SmallLeNet(generator, params.image_side).to(train_set.y.device)
        order = batches(len(train_set.y), batch_size, generator)
        rows = (next(order) for _ in range(num_steps))
        return _percent_after(net, StaleSteps(staleness), rows, lr, train_set, test_set)

    seeds = range(params.lenet.num_seeds)
    jobs = product(params.staleness, seeds)
    found = map_with_progress(SHORT_RUN, accuracy, jobs, train_set.y.device)
    for staleness in params.staleness:
        yield line(SHORT_RUN, stale(staleness), seeds, [found[staleness, i] for i in seeds])


def measure_stems(
    params: StemParams, train_set: Images, test_set: Images, seed: int
) -> Iterator[Curve]:
    """ResNet-18's test accuracy (percent) with each stem after each image once, by seed.

    With both stems a seed has the same batches in the same order.
    """
    num_steps = len(train_set.y) // params.batch_size

    def accuracy(job: tuple[Stem, int]) -> float:
        stem, i = job
        net = resnet18(torch.Generator().manual_seed(seed + i), stem).to(train_set.y.device)
        ordered = torch.Generator().manual_seed(seed + i)
        order = batches(len(train_set.y), params.batch_size, ordered)
        rows = (next(order) for _ in range(num_steps))
        return _percent_after(net, sgd_step, rows, params.lr, train_set, test_set)

    seeds = range(params.num_seeds)
    found = map_with_progress(BY_STEM, accuracy, product(STEMS, seeds), train_set.y.device)
    for stem in STEMS:
        yield line(BY_STEM, stem, seeds, [found[stem, i] for i in seeds])


def _percent_after(
    net: nn.Module,
    step: Step,
    batch_rows: Iterator[Tensor],
    lr: float,
    train_set: Images,
    test_set: Images,
) -> float:
    """The test accuracy after a step on each batch."""
    for rows in batch_rows:
        step(net, train_set.at(rows.to(train_set.y.device)), lr)
    accuracy = accuracy_of(net, test_set)
    return CHANCE if accuracy is None else 100 * accuracy
