"""What bench_collectives keeps of each all-reduce's first call."""

import torch

from lab.machine.devices import Devices
from lab.parallel.allreduce.times import FirstCall, Variant
from lab.parallel.cost_model import LIBRARY, PROBES, STAR
from stages.bench_collectives.measure.all_reduces import facts_of

FOUR = Devices("cpu-virtual", [torch.device("cpu")] * 4, 1)


def test_a_sum_that_is_not_exact_and_the_largest_tensor_are_found_among_all():
    sums = [
        (Variant(STAR, 2, (1,)), FirstCall(True, 1, 4)),
        (Variant(STAR, 2, (100, 100)), FirstCall(False, 2, 800)),
        (Variant(STAR, 2, (150,)), FirstCall(True, 1, 600)),
        (Variant(LIBRARY, 2, (1,)), FirstCall(True, 0, 0)),
        (Variant(PROBES[0], 2, (1000,)), FirstCall(True, 1, 4000)),
    ]
    found = {(m.experiment, m.variant): (m.x, m.values[0]) for m in facts_of(sums, FOUR)}
    assert found == {
        ("exact", STAR): (600, 0),
        ("sent", STAR): (600, 600 / 1e6),
        ("messages", STAR): (600, 1),
        ("exact", LIBRARY): (4, 1),
    }
