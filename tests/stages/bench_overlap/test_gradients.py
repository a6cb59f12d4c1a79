"""When LeNet's gradients are ready: what is kept of each pass."""

import torch

from lab.machine.devices import Devices
from lab.nets.models import LENET_NAMES
from lab.results.measurements import Results
from stages.bench_overlap.measure import gradients, names
from stages.bench_overlap.measure.params import Params
from tests.stages.bench_overlap.test_bench_overlap import PARAMS

CPU = torch.device("cpu")
TWO_ROUNDS = Params.model_validate(
    PARAMS.model_dump() | {"bench": {**PARAMS.bench.model_dump(), "rounds": 2}}
)


def test_the_first_and_the_last_are_those_of_each_pass(monkeypatch):
    passes = [{"W1": 9.0, "b4": 9.0}, {"W1": 8.0, "b4": 2.0}, {"W1": 3.0, "b4": 6.0}]
    each = [dict.fromkeys(LENET_NAMES, 5.0) | ms for ms in passes]
    monkeypatch.setattr(gradients, "ready_times", lambda net, loss, count, device: each[:count])
    one = Devices("cpu-virtual", [CPU], threads=1)
    results = Results(gradients.measure_gradients(TWO_ROUNDS, one, images=512))
    first, last = (
        results.one(names.BACKWARD, arm).values for arm in (names.FIRST_READY, names.LAST_READY)
    )
    assert (first, last) == ((2.0, 3.0), (8.0, 6.0)), "without the pass that warms up"
    assert results.one(names.BACKWARD, names.LAST_READY).x == 512
    assert results.arms(names.GRADIENTS) == list(LENET_NAMES)
    assert results.one(names.GRADIENTS, "W1").values == (8.0, 3.0)


def test_a_pass_is_forward_and_backward_over_so_many_images(monkeypatch):
    seen = []
    loss = gradients.F.cross_entropy
    monkeypatch.setattr(
        gradients.F, "cross_entropy", lambda y_hat, y: seen.append(loss(y_hat, y)) or seen[-1]
    )
    arm = gradients.lenet_passes(CPU, seed=0)(6)
    arm()
    arm()
    assert torch.equal(seen[0], seen[1]), "the same images, and weights that stay"
