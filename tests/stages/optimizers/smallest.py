from lab.core.files import Metrics
from lab.data import synthetic
from lab.data.datasets import Split
from lab.optim import objectives
from lab.results.curves import Curve
from stages.optimizers.__main__ import measure, summarise
from stages.optimizers.linear_regression import problem
from stages.optimizers.params import OptimizerParams
from stages.optimizers.rate_sweeps import step_times

PARAMS = OptimizerParams(
    num_seeds=3,
    num_rates=6,
    num_starts=36,
    lenet_steps=1,
    lenet_batch_size=16,
    lenet_test_images=32,
    timing_runs=5,
)


def results() -> tuple[list[Curve], Metrics]:
    """As `main` has them; the times come last, and are the only ones to differ each time."""
    table = problem(*objectives.standardise(synthetic.airfoil(0)))
    images, labels = synthetic.fashion(32, 0)
    split = Split(images, labels.astype("int64"))
    curves = measure(PARAMS, table, split, split, seed=0)
    metrics = {"airfoil": "synthetic", **summarise(curves, table)}
    return [*curves, *step_times(table, PARAMS.timing_runs, seed=0)], metrics
