"""What schedules reads, derives and writes, and how it ends."""

import functools

import torch

from lab.core.shared_params import DeviceParams
from lab.data import synthetic
from lab.data.datasets import Split
from lab.data.images import shrink
from lab.optim import objectives
from lab.results.curves import Curve, key
from stages.landscapes import __main__ as landscapes
from stages.landscapes.params import LandscapeParams
from stages.optimizers import __main__ as optimizers
from stages.optimizers import airfoil, regression
from stages.optimizers.params import OptimizerParams
from stages.replicas import __main__ as replicas
from stages.replicas.params import ReplicaParams
from stages.schedules import __main__ as schedules
from stages.schedules.params import ScheduleParams


@functools.cache
def small(stage: str) -> tuple[list[Curve], dict[str, object]]:
    """Return the curves and metrics of a theory stage at its smallest."""
    images, labels = synthetic.fashion(256, 0)
    split = Split(images, labels.astype("int64"))
    if stage == "landscapes":
        params = LandscapeParams(
            num_draws=50,
            sample_sizes=[10, 1000],
            dimensions=[1, 2, 20],
            saddle_lr=0.05,
            saddle_noise=0.01,
        )
        curves = landscapes.measure(params, seed=0)
        return curves, dict(landscapes.summarise(curves))
    if stage == "replicas":
        few = ReplicaParams(num_devices=2, batch_size=9, num_steps=3, batch_norm_images=4)
        wanted = replicas.Params(seed=0, devices=DeviceParams(cpu_threads=1), replicas=few)
        X, y = torch.tensor(split.images[:9]), torch.tensor(split.labels[:9])
        curves = [
            *replicas.measure(wanted, [(X, y)] * 3),
            *replicas.measure_batch_norm(0, X[:4], y[:4]),
        ]
        return curves, replicas.summarise(curves)
    if stage == "optimizers":
        params = OptimizerParams(
            num_seeds=3,
            num_rates=6,
            num_starts=36,
            lenet_steps=1,
            lenet_batch_size=16,
            timing_runs=5,
        )
        table = regression.problem(*objectives.standardise(synthetic.airfoil(0)))
        curves = optimizers.measure(params, table, split, split, seed=0)
        times = {f"{key(name)}_step_us": 1.0 for name in airfoil.SWEPT}
        return curves, optimizers.summarise(curves, table) | times | {"airfoil": "synthetic"}
    params = ScheduleParams(
        num_seeds=2,
        train_images=256,
        batch_size=128,
        high_rates=[0.1, 2.0],
        warm_up_epochs=1,
        num_epochs=3,
    )
    X, y = shrink(torch.tensor(images), 14).flatten(1), torch.from_numpy(split.labels)
    curves = [*schedules.drawn(), *schedules.tried((X, y, X, y), params, 0)]
    curves += schedules.warm_up_tested((X, y, X, y), params, 0)
    return curves, dict(schedules.summarise(curves))


def test_schedules_tries_what_it_draws_and_the_books_way():
    curves, m = small("schedules")
    tried = {c.series for c in curves if c.demo == "schedule_accuracy"}
    assert tried == {c.series for c in curves if c.demo == "schedule"}
    assert "warm_up_as_the_book_applies_it_failed_percent" in m
