"""Epochs to the target accuracy by batch size, for each rule and seed."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch

from lab.machine.devices import usable_cores
from lab.parallel.device_workers import thread_pool
from lab.results.curves import Curve, line
from stages.convergence.names import ACCURACY, EPOCHS, FIXED, LINEAR, RULES, readings_of, seed_of
from stages.convergence.params import ConvergenceParams
from stages.convergence.train_to_target import (
    Goal,
    Images,
    Run,
    ScaledLeNet,
    schedule,
    train_to_target,
)

Runs = dict[tuple[str, int, int], Run]  # by rule, batch size and seed


def measure_epochs(
    params: ConvergenceParams, device: torch.device, train_set: Images, test_set: Images, seed: int
) -> Iterator[Curve]:
    """Each seed's epochs to the target by batch size, and the accuracies of its readings."""
    runs = _trained(params, device, train_set, test_set, seed)
    for rule in RULES:
        for i in range(params.num_seeds):
            ended = [runs[rule, n, i] for n in params.batch_sizes]
            epochs = [r.epochs_to_target for r in ended]
            found = line(EPOCHS, seed_of(rule, i), params.batch_sizes, epochs)
            yield replace(found, diverged=np.array([float(r.ending == "diverged") for r in ended]))
    for (rule, n, i), r in runs.items():
        yield line(ACCURACY, readings_of(rule, n, i), r.epochs, r.accuracies)


def _trained(
    params: ConvergenceParams, device: torch.device, train_set: Images, test_set: Images, seed: int
) -> Runs:
    """Train every run, the longest first.

    On a CPU runs go side by side, one thread each, so that they are the same bits whatever the
    number of cores. Each seed is a net of its own: all seeds in one net of grouped convolutions
    take longer there.
    """
    smallest = params.batch_sizes[0]
    goal = Goal(params.target_accuracy_percent / 100, params.max_epochs)

    def trained(job: tuple[str, int, int]) -> Run:
        rule, batch_size, i = job
        generator = torch.Generator().manual_seed(seed + i)
        net = ScaledLeNet(generator, params.image_side).to(device)
        lr = schedule(rule, params.lr, batch_size, smallest, params.warm_up_epochs)
        return train_to_target(net, train_set, test_set, lr, batch_size, goal, generator)

    seeds = range(params.num_seeds)
    jobs = [(rule, n, i) for n in reversed(params.batch_sizes) for rule in RULES for i in seeds]
    once = [job for job in jobs if job[:2] != (LINEAR, smallest)]  # where it is the fixed rate
    with thread_pool(usable_cores() if device.type == "cpu" else 1, 1) as pool:
        runs = dict(zip(once, pool.map(trained, once), strict=True))
    return runs | {(LINEAR, smallest, i): runs[FIXED, smallest, i] for i in seeds}
