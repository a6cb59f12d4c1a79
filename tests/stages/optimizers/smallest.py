from lab.data import synthetic
from lab.optim import objectives
from lab.results.measurements import Measurement, again
from stages.optimizers.__main__ import measure
from stages.optimizers.measure.params import OptimizerParams
from stages.optimizers.measure.regression import problem
from tests import made_up

PARAMS = OptimizerParams(num_seeds=2, num_rates=6, num_starts=36)
TIMES = {"step with SGD": 10.0, "step with AdaGrad": 12.0, again("step with AdaGrad"): 12.0}


def results() -> list[Measurement]:
    """Return results as `main` makes them, with made-up times."""
    table = problem(*objectives.standardise(synthetic.airfoil(0)))
    times = [made_up.one("step_time", variant, ms, "cpu") for variant, ms in TIMES.items()]
    return [*times, *measure(PARAMS, table, seed=0)]
