"""What optimizers reads, derives and writes, and how it ends."""

import functools

import numpy as np
import pytest
import torch

from lab.core.shared_params import DeviceParams
from lab.data import synthetic
from lab.data.datasets import Split
from lab.data.images import shrink
from lab.optim import objectives
from lab.results.curves import Curve, key, rows_of
from stages.landscapes import __main__ as landscapes
from stages.landscapes.params import LandscapeParams
from stages.optimizers import __main__ as optimizers
from stages.optimizers import airfoil, quadratics, regression
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


def test_optimizers_finds_what_is_known():
    _, m = small("optimizers")
    assert (m["trace_adagrad_rate_04_x1"], m["trace_adagrad_rate_04_x2"]) == (-2.382563, -0.158591)
    assert (m["trace_gd_rate_04_x1"], m["trace_gd_rate_04_x2"]) == (-0.943467, -0.000073)
    assert m["stability_boundary_max_error"] < 1e-3


@pytest.mark.parametrize(
    ("beta", "curvature"), [(0.0, 0.5), (0.5, 1.0), (0.9, 3.0), (0.9, 3.9), (0.3, 2.7)]
)
def test_the_measured_growth_of_momentum_is_the_spectral_radius(beta, curvature):
    matrix = np.array([[1 - curvature, -beta], [curvature, beta]])
    radius = np.abs(np.linalg.eigvals(matrix)).max()
    assert quadratics.growth(np.array(beta), np.array(curvature)) == pytest.approx(radius, rel=0.01)


def test_a_rate_that_diverges_gives_a_row_with_its_share_and_step():
    rows = [
        row
        for row in rows_of(small("optimizers")[0])
        if row["demo"] == "airfoil_rates" and row["series"] == "SGD"
    ]
    assert rows[-1]["diverged"] == 1
    assert rows[-1]["diverged_step"] > 0
    assert rows[-1]["y"] == ""
