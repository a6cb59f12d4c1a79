"""Measurements of `replicas`: replicas, mistakes in them, batch norm on several devices."""

import pytest
import torch
from threadpoolctl import threadpool_limits

from lab.claims.rules import Verdict
from lab.data import synthetic
from lab.parallel.replicas import forward_backward
from lab.results.measurements import Results, rows_of
from stages.replicas.__main__ import recipe
from stages.replicas.measure.batch_norm import lenet_with_batch_norm, sum_all_but_norms
from stages.replicas.measure.names import (
    ALIASING,
    IN_PLACE,
    MEANS,
    REBINDING,
    WITH_BATCH_NORM,
    WITHOUT_BATCH_NORM,
)
from stages.replicas.measure.params import AccuracyParams
from stages.replicas.measure.training import (
    LR,
    lenet,
    measure_variants,
    step,
    step_and_sum_parameters,
    step_of_means,
    step_of_one_tensor,
)
from tests import smallest
from tests.helpers import verdicts
from tests.stages.replicas.smallest import PARAMS


def test_the_number_of_devices_matters_only_with_batch_norm():
    found = Results(smallest.results("replicas"))
    assert min(found.one("gradient_change", WITH_BATCH_NORM).values) > 1
    assert max(found.one("gradient_change", WITHOUT_BATCH_NORM).values) < 1e-3
    assert [m.x for m in found.series("from_one_device", IN_PLACE)] == [1, 2, 3], "its steps"
    assert [len(m.values) for m in found.series("accuracy", IN_PLACE)] == [1, 1], "a seed each"


def test_what_was_not_trained_is_not_judged():
    measured = [m for m in smallest.results("replicas") if m.experiment != "accuracy"]
    accuracy = AccuracyParams(num_seeds=0, num_epochs=10, train_images=60_000, test_images=10_000)
    params = PARAMS.replicas.model_copy(update={"accuracy": accuracy})
    about = {"dataset": "fashion-mnist", "num_devices": 2, "two_devices": "cpu-virtual"}
    metrics = {**about, **recipe(params)}
    found = verdicts("replicas", metrics, rows_of(measured))
    assert {found[name] for name in ("D11", "D12a", "D12e")} == {Verdict.NOT_TESTABLE}
    assert found["D12b"] is Verdict.CONFIRMED


def batch(count):
    images, labels = synthetic.fashion(count, 0)
    return torch.from_numpy(images), torch.from_numpy(labels.astype("int64"))


def is_norm(name, net):
    return "running_mean" in dict(net.get_submodule(name.rpartition(".")[0]).named_buffers())


def test_a_devices_batch_norm_takes_the_step_of_its_own_images():
    X, y = batch(8)
    nets, alone = [lenet_with_batch_norm(0) for _ in range(2)], lenet_with_batch_norm(0)
    step(nets, X, y, 0.1, sum_all_but_norms)
    forward_backward(alone, X[:4], y[:4])
    start = dict(lenet_with_batch_norm(0).named_parameters())
    for (name, p), q in zip(nets[0].named_parameters(), alone.parameters(), strict=True):
        if is_norm(name, nets[0]):
            torch.testing.assert_close(p, start[name] - 0.1 / 4 * q.grad)


COUNTS = (2, 4)


UNEVEN = batch(9)


@pytest.fixture(scope="module")
def found():
    """Return each variant's distances on two and on four devices, for uneven shards of 9 images."""
    with threadpool_limits(1):
        made = {n: Results([*measure_variants(n, [UNEVEN] * 3, seed=0)]) for n in COUNTS}
    return {
        n: {(e, name): c.y for e in ("from_one_device", "apart") for name, c in r.curves(e).items()}
        | {"one_step": r.one("one_step", "parameters summed for gradients").values[0]}
        for n, r in made.items()
    }


@pytest.mark.parametrize("count", COUNTS)
def test_the_books_replicas_stay_one_network(found, count):
    y = found[count]
    assert not y["apart", IN_PLACE].any(), "to the bit"
    assert y["from_one_device", IN_PLACE].max() < 1e-14, "rounding of float64"


@pytest.mark.parametrize("count", COUNTS)
def test_the_mistakes_are_different_algorithms(found, count):
    y = found[count]
    for name in (REBINDING, ALIASING, MEANS):
        assert y["from_one_device", name][0] > 100 * y["from_one_device", IN_PLACE][0], name
    assert y["apart", REBINDING].all(), "replicas part from the first step on"
    assert not y["apart", ALIASING].any(), "one tensor cannot part from itself"


@pytest.mark.parametrize("count", COUNTS)
def test_one_shared_tensor_doubles_its_step_with_each_further_replica(count, one_thread):
    start, net, one = lenet(0), lenet(0), lenet(0)
    step_of_one_tensor(net, count, *UNEVEN)
    step([one], *UNEVEN, LR)
    for p, q, before in zip(net.parameters(), one.parameters(), start.parameters(), strict=True):
        torch.testing.assert_close(
            p - before, 2 ** (count - 1) * (q - before), rtol=1e-3, atol=1e-6
        )


def test_the_mean_of_means_weighs_an_image_by_its_shard(one_thread):
    """Of 9 images on two devices, 5 count a tenth each and 4 an eighth."""
    net, weighed = lenet(0), lenet(0)
    X, y = UNEVEN
    step_of_means(net, 2, X, y)
    losses = torch.nn.functional.cross_entropy(weighed(X), y, reduction="none")
    losses.dot(torch.tensor([1 / 10] * 5 + [1 / 8] * 4)).backward()
    for p, q in zip(net.parameters(), weighed.parameters(), strict=True):
        torch.testing.assert_close(p, q - LR * q.grad)


@pytest.mark.parametrize("count", COUNTS)
def test_a_sum_of_parameters_adds_up_the_replicas_initial_weights(found, count):
    """A linear net with equal rows gives each class the same probability for any input."""
    start, num_classes = 3.0, 5
    nets = [torch.nn.Linear(2, num_classes, bias=False) for _ in range(count)]
    for net in nets:
        torch.nn.init.constant_(net.weight, start)
    X, y = torch.tensor([[1.0, 2], [3, 4], [5, 6], [7, 8]]), torch.tensor([0, 1, 1, 4])
    step_and_sum_parameters(nets, X, y)
    wrong = 1 / num_classes - torch.nn.functional.one_hot(y, num_classes)
    for net in nets:
        torch.testing.assert_close(net.weight, count * start - LR / len(X) * wrong.T @ X)
    # a step is short, so a weight is nearly its initial value
    assert found[count]["one_step"] == pytest.approx(100 * (count - 1), rel=0.05)
