from lab.core.files import Metrics
from lab.data import synthetic
from lab.results.measurements import Measurement, Results
from stages.landscapes.__main__ import measure, summarise
from stages.landscapes.measure.params import LandscapeParams

PARAMS = LandscapeParams(
    num_seeds=4,
    num_draws=200,
    sample_sizes=[10, 1000],
    train_rows=40,
    saddle_lr=0.05,
    saddle_noise=0.01,
)


def results() -> tuple[list[Measurement], Metrics]:
    measured = measure(PARAMS, synthetic.airfoil(0), seed=0)
    return measured, {"airfoil": "synthetic", **summarise(Results(measured))}
