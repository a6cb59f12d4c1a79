"""Test accuracy after the same number of images, by the gradients' age and by ResNet-18's stem."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product

import torch
from torch import nn

from lab.core.shared_params import Stem
from lab.data.images import Images
from lab.nets.resnet import resnet18
from lab.parallel.workers import map_with_progress
from lab.results.measurements import Measurement, by_seed
from lab.training.short_training import SmallLeNet, accuracy_or_chance, batches_of, sgd_steps
from lab.training.update_steps import BatchStep, StaleSteps, sgd_step
from stages.convergence.measure.names import PLAIN, STEMS
from stages.convergence.measure.params import ConvergenceParams, StemParams


def measure_short_runs(
    params: ConvergenceParams, train_set: Images, test_set: Images, seed: int
) -> Iterator[Measurement]:
    """Yield LeNet's test accuracy (percent) after `short_images` at the smallest batch, by seed."""
    batch_size = params.lenet.batch_sizes[0]
    rates = [params.lenet.lr] * max(1, params.short_images // batch_size)

    def run(job: tuple[int, int]) -> float:
        staleness, i = job
        generator = torch.Generator().manual_seed(seed + i)
        net = SmallLeNet(generator, params.image_side).to(train_set.y.device)
        batches = batches_of(train_set, batch_size, generator)
        return percent_after(net, batches, rates, StaleSteps(staleness), test_set)

    seeds = range(params.lenet.num_seeds)
    jobs = product(params.staleness, seeds)
    found = map_with_progress("short runs", run, jobs, train_set.y.device)
    for staleness in params.staleness:
        measured = by_seed("short_run", PLAIN, [found[staleness, i] for i in seeds])
        yield replace(measured, columns={"net": "lenet", "staleness": staleness})


def measure_stems(
    params: StemParams, train_set: Images, test_set: Images, seed: int
) -> Iterator[Measurement]:
    """Yield ResNet-18's test accuracy (percent) with each stem after one epoch, by seed.

    A seed gives both stems the same batches in the same order.
    """
    rates = [params.lr] * (len(train_set.y) // params.batch_size)

    def run(job: tuple[Stem, int]) -> float:
        stem, i = job
        net = resnet18(torch.Generator().manual_seed(seed + i), stem).to(train_set.y.device)
        ordered = torch.Generator().manual_seed(seed + i)
        batches = batches_of(train_set, params.batch_size, ordered)
        return percent_after(net, batches, rates, sgd_step, test_set)

    seeds = range(params.num_seeds)
    found = map_with_progress("stems", run, product(STEMS, seeds), train_set.y.device)
    for stem in STEMS:
        measured = by_seed("by_stem", stem, [found[stem, i] for i in seeds])
        yield replace(measured, columns={"net": "resnet18"})


def percent_after(
    net: nn.Module,
    batches: Iterable[Images],
    rates: Iterable[float],
    step: BatchStep,
    test_set: Images,
) -> float:
    """Return the test accuracy in percent after a step at each rate."""
    for _ in sgd_steps(net, batches, rates, step):
        pass
    return 100 * accuracy_or_chance(net, test_set)
