from lab.data import synthetic
from lab.results.measurements import Measurement
from stages.landscapes.__main__ import measure
from stages.landscapes.measure.params import LandscapeParams

PARAMS = LandscapeParams(
    num_seeds=4,
    num_draws=200,
    sample_sizes=[10, 1000],
    train_rows=40,
    saddle_lr=0.05,
    saddle_noise=0.01,
)


def results() -> list[Measurement]:
    return measure(PARAMS, synthetic.airfoil(0), seed=0)
