"""The book's training over replicas is one device's; each of the notes' mistakes is another."""

import pytest
import torch
from threadpoolctl import threadpool_limits

from lab.data import synthetic
from lab.parallel.replicas import allreduce
from stages.replicas.measure.names import (
    ALIASING,
    APART,
    FROM_ONE_DEVICE,
    IN_PLACE,
    MEANS,
    REBINDING,
)
from stages.replicas.measure.training_variants import (
    lenet,
    measure_variants,
    trained,
    trained_on_one_tensor,
)

COUNTS = (2, 4)


def uneven_batch():
    images, labels = synthetic.fashion(9, 0)
    return torch.from_numpy(images), torch.from_numpy(labels.astype("int64"))


@pytest.fixture(scope="module")
def found():
    """Each variant's distances on two and on four devices: uneven shards of 9 images."""
    with threadpool_limits(1):
        curves = {n: measure_variants(n, [uneven_batch()] * 3, seed=0) for n in COUNTS}
        return {n: {(c.demo, c.series): c.y for c in made} for n, made in curves.items()}


@pytest.mark.parametrize("count", COUNTS)
def test_the_book_stays_one_network(found, count):
    y = found[count]
    assert not y[APART, IN_PLACE].any(), "to the bit"
    assert y[FROM_ONE_DEVICE, IN_PLACE].max() < 1e-14, "rounding of float64"


@pytest.mark.parametrize("count", COUNTS)
def test_the_mistakes_are_other_algorithms(found, count):
    y = found[count]
    for name in (REBINDING, ALIASING, MEANS):
        assert y[FROM_ONE_DEVICE, name][0] > 100 * y[FROM_ONE_DEVICE, IN_PLACE][0], name
    assert y[APART, REBINDING].all(), "replicas part from the first step on"
    assert not y[APART, ALIASING].any(), "one tensor cannot part from itself"


@pytest.mark.parametrize("count", COUNTS)
def test_one_tensor_takes_steps_that_are_twice_as_long_for_each_further_replica(count, one_thread):
    start, net, one = lenet(0), lenet(0), lenet(0)
    next(trained_on_one_tensor(net, count, [uneven_batch()]))
    next(trained([one], [uneven_batch()], allreduce))
    for p, q, before in zip(net.parameters(), one.parameters(), start.parameters(), strict=True):
        torch.testing.assert_close(
            p - before, 2 ** (count - 1) * (q - before), rtol=1e-3, atol=1e-6
        )
