"""What the stage `replicas` finds, on few steps."""

import pytest
import torch

from lab.core.shared_params import DeviceParams
from stages.replicas import __main__ as replicas
from stages.replicas.__main__ import ALIASING, IN_PLACE, MEANS, REBINDING
from stages.replicas.params import ReplicaParams
from tests.lab.training.strategy_ranks import batch


def params(num_devices: int) -> replicas.Params:
    few = ReplicaParams(num_devices=num_devices, batch_size=9, num_steps=3, batch_norm_images=4)
    return replicas.Params(seed=0, devices=DeviceParams(cpu_threads=1), replicas=few)


@pytest.fixture(scope="module", params=[2, 4])
def found(request):
    """Each variant's distances: uneven shards of 9 images."""
    curves = replicas.measure(params(request.param), [batch(9)] * 3)
    return request.param, {(c.demo, c.series): c.y for c in curves}


def test_the_book_stays_one_network(found):
    _, y = found
    assert not y["apart", IN_PLACE].any(), "to the bit"
    assert y["from_one_device", IN_PLACE].max() < 1e-6, "rounding"


def test_the_mistakes_are_other_algorithms(found):
    _, y = found
    for name in (REBINDING, ALIASING, MEANS):
        assert y["from_one_device", name][0] > 100 * y["from_one_device", IN_PLACE][0], name
    assert y["apart", REBINDING].all(), "replicas part from the first step on"
    assert not y["apart", ALIASING].any(), "one tensor cannot part from itself"


def test_one_tensor_takes_steps_that_are_twice_as_long_for_each_further_replica(found):
    count, _ = found
    start, net = replicas.lenet(0), replicas.lenet(0)
    next(replicas.trained_on_one_tensor(net, count, [batch(9)]))
    one = replicas.lenet(0)
    next(replicas.trained([one], [batch(9)], replicas.allreduce))
    for p, q, before in zip(net.parameters(), one.parameters(), start.parameters(), strict=True):
        torch.testing.assert_close(
            p - before, 2 ** (count - 1) * (q - before), rtol=1e-3, atol=1e-6
        )


def test_batch_norm_makes_devices_matter_and_lenet_does_not():
    changes = {c.series: c.y for c in replicas.measure_batch_norm(0, *batch(8))}
    with_norm, without = changes.values()
    assert with_norm.min() > 0.01
    assert without.max() < 1e-5
