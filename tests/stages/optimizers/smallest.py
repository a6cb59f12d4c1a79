from lab.core.files import Metrics
from lab.data import synthetic
from lab.optim import objectives
from lab.results.measurements import Measurement, Results, again
from stages.optimizers.__main__ import measure, summarise
from stages.optimizers.measure.params import OptimizerParams
from stages.optimizers.measure.regression import problem
from tests import made_up

PARAMS = OptimizerParams(num_seeds=2, num_rates=6, num_starts=36)
TIMES = {
    "step with SGD": 10.0,
    "step with AdaGrad": 12.0,
    again("step with AdaGrad"): 12.0,
    "loss and gradient only": 9.0,
}
CONDITIONS: Metrics = {
    "device_kind": "cpu",
    "num_devices": 1,
    "threads_per_device": 1,
    "starts": made_up.STARTS,
    "busy_percent": 0.0,
    "noisy_percent": 0.0,
    "controls": 1,
    "false_speedups": 0,
    "control_starts": made_up.STARTS,
    "control_over": 0,
    "control_under": 0,
}


def results() -> tuple[list[Measurement], Metrics]:
    """As `main` has them, with made-up times."""
    table = problem(*objectives.standardise(synthetic.airfoil(0)))
    times = [made_up.one("step_time", variant, ms, "cpu") for variant, ms in TIMES.items()]
    measured = [*times, *measure(PARAMS, table, seed=0)]
    metrics = {"airfoil": "synthetic", **CONDITIONS, **summarise(Results(measured), table)}
    return measured, metrics
