"""What `replicas` derives and its page says, from made-up results; and one small real run."""

from stages.replicas import __main__ as replicas
from stages.replicas.measure.names import (
    ACCURACY,
    ALIASING,
    APART,
    BATCH_NORM_CHANGE,
    EPOCHS,
    FROM_ONE_DEVICE,
    GRADIENT_CHANGE,
    IN_PLACE,
    REBINDING,
    WITH_BATCH_NORM,
    WITHOUT_BATCH_NORM,
    millionths,
    replica_of,
)
from tests import smallest
from tests.stages.replicas.made_up import PARAMS, replicas_curves


def test_metrics_are_the_ends_of_the_curves():
    m = replicas.summarise(replicas_curves(), PARAMS)
    assert m[millionths(IN_PLACE, FROM_ONE_DEVICE)] == 0.1
    assert m[millionths(REBINDING, APART)] == 20_000
    assert m[millionths(ALIASING, FROM_ONE_DEVICE)] == 40_000
    assert (m[BATCH_NORM_CHANGE], m[EPOCHS]) == (128, 10)


def test_batch_norm_makes_devices_matter_and_lenet_does_not():
    curves, _ = smallest.results("replicas")
    y = {(c.demo, c.series): c.y for c in curves}
    assert y[GRADIENT_CHANGE, WITH_BATCH_NORM].min() > 1
    assert y[GRADIENT_CHANGE, WITHOUT_BATCH_NORM].max() < 1e-3
    assert len(y[FROM_ONE_DEVICE, IN_PLACE]) == 3, "its steps"
    assert [len(y[ACCURACY, replica_of(IN_PLACE, i)]) for i in (1, 2)] == [1, 1], "a seed each"
