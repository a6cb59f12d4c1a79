"""What the theory stages have in common: the same bits again, and how they end."""

import functools
import os
import subprocess
import sys
from pathlib import Path

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
from stages.optimizers import airfoil, regression
from stages.optimizers.params import OptimizerParams
from stages.replicas import __main__ as replicas
from stages.replicas.params import ReplicaParams
from stages.schedules import __main__ as schedules
from stages.schedules.params import ScheduleParams
from tests.helpers import ROOT


def run_stage(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", *words]
    env = (
        {k: v for k, v in os.environ.items() if k != "LAB_DATA_MIRROR"}
        | {"PYTHONPATH": str(ROOT)}
        | environment
    )
    return subprocess.run(
        command, env=env, capture_output=True, text=True, check=False, timeout=120
    )


def errors(result: subprocess.CompletedProcess[str]) -> list[str]:
    lines = result.stderr.splitlines()
    assert lines, "an error says something"
    assert all(line.startswith("ERROR: ") for line in lines), result.stderr
    return lines


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


THEORY = ("landscapes", "optimizers", "schedules", "replicas")


@pytest.mark.parametrize("stage", THEORY)
def test_theory_repeats_bit_for_bit(stage):
    assert rows_of(small.__wrapped__(stage)[0]) == rows_of(small(stage)[0])


@pytest.mark.parametrize("stage", ["optimizers", "schedules"])
def test_missing_data_end_a_theory_stage_with_code_3_and_the_command_that_fetches(project, stage):
    result = run_stage(f"stages.{stage}")
    assert result.returncode == 3
    assert "`dvc repro fetch` brings them" in errors(result)[0]


@pytest.mark.skipif(
    not Path("/proc/self/cmdline").exists(), reason="finding DVC's interpreter needs /proc"
)
def test_a_stage_started_on_another_python_by_dvc_hands_over_to_dvcs(project):
    """A script called `dvc` on this interpreter starts a stage on one that does not have the
    lab.
    """
    other = Path(sys.base_prefix) / "bin" / "python3"
    blank = [str(other), "-c", "import importlib.metadata as m; m.distribution('d2l-lab')"]
    if subprocess.run(blank, capture_output=True, check=False, cwd=project).returncode == 0:
        pytest.skip("no other Python here")
    dvc = project / "dvc"
    dvc.write_text(
        f"import os, subprocess, sys\nenv = dict(os.environ, DVC_STAGE='probe',"
        f" PYTHONPATH={str(ROOT)!r})\n"
        f"sys.exit(subprocess.call('{other} -m stages.probe', shell=True, env=env))\n"
    )
    result = subprocess.run(
        [sys.executable, str(dvc)], capture_output=True, text=True, check=False, timeout=120
    )
    assert result.returncode == 0, result.stderr
    assert (project / "reports" / "hardware.json").exists()
