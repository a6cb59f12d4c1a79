from lab.core.files import Metrics
from lab.data import synthetic
from lab.data.datasets import Split
from lab.results.curves import Curve
from stages.schedules.__main__ import measure, summarise
from stages.schedules.params import ScheduleParams

PARAMS = ScheduleParams(
    num_seeds=2,
    train_images=256,
    batch_size=128,
    high_rates=[0.1, 2.0],
    warm_up_epochs=1,
    num_epochs=3,
)


def results() -> tuple[list[Curve], Metrics]:
    images, labels = synthetic.fashion(PARAMS.train_images, 0)
    split = Split(images, labels.astype("int64"))
    curves = measure(PARAMS, split, split, seed=0)
    return curves, summarise(curves)
