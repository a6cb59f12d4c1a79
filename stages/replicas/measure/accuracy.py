"""LeNet trained as the notes do over replicas, with either all-reduce: each replica's accuracy."""

from collections.abc import Iterator
from functools import partial
from itertools import product

import torch

from lab.data.images import LabelledImages
from lab.data.order import epoch_order
from lab.nets.models import MODELS, UInt8Input
from lab.parallel.replicas import allreduce, rebinding_allreduce, sum_gradients
from lab.parallel.workers import map_with_progress
from lab.results.curves import Curve, line
from stages.replicas.measure.by_hand import CPU, accuracy_percent, step
from stages.replicas.measure.names import ACCURACY, IN_PLACE, ONE_DEVICE, REBINDING, replica_of
from stages.replicas.measure.params import AccuracyParams

BATCH_SIZE, LR = 256, 0.2  # the notes'
COLLECTIVES = {ONE_DEVICE: allreduce, IN_PLACE: allreduce, REBINDING: rebinding_allreduce}


def measure_accuracy(
    params: AccuracyParams,
    num_devices: int,
    train_set: LabelledImages,
    test_set: LabelledImages,
    seed: int,
) -> Iterator[Curve]:
    """Each replica's test accuracy after the last epoch, by seed."""
    images, labels = (each[: params.train_images] for each in train_set)
    tested = (test_set[0][: params.test_images], test_set[1][: params.test_images])
    counts = {name: 1 if name == ONE_DEVICE else num_devices for name in COLLECTIVES}

    def run(job: tuple[str, int]) -> list[float]:
        variant, seed = job
        nets = [  # from one seed: replicas
            UInt8Input(MODELS["lenet"](torch.Generator().manual_seed(seed)))
            for _ in range(counts[variant])
        ]
        combine = partial(sum_gradients, allreduce=COLLECTIVES[variant])
        for epoch in range(1, params.num_epochs + 1):
            for rows in epoch_order(len(labels), seed, epoch).split(BATCH_SIZE):
                step(nets, images[rows], labels[rows], LR, combine)
        return [accuracy_percent(net, tested) for net in nets]

    seeds = range(seed, seed + params.num_seeds)
    found = map_with_progress(ACCURACY, run, product(COLLECTIVES, seeds), CPU)
    for name, count in counts.items():
        for i in range(count):
            series = name if count == 1 else replica_of(name, i + 1)
            yield line(ACCURACY, series, seeds, [found[name, s][i] for s in seeds])
