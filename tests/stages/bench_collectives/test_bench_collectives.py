"""What bench_collectives keeps of each all-reduce's first call, and derives from all times."""

import pytest
import torch

from lab.machine.devices import Devices
from lab.parallel.allreduce.times import FirstCall, Variant
from lab.parallel.cost_model import LIBRARY, PROBES, STAR
from lab.results.reasons import Reason
from stages.bench_collectives.measure.all_reduces import facts_of
from tests.made_up import LINK, STARTS, findings, measurements

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


def test_the_link_is_found_in_its_times_and_predicts_those_of_more_ranks():
    for kind, ring in (("cuda", 4), ("cpu-virtual", 1)):  # links of their own, one for all
        made = measurements("bench_collectives", kind)
        found = findings("bench_collectives", made, kind)
        assert found["latency_s"].value == pytest.approx(LINK.alpha_s, rel=1e-3)
        assert found["bandwidth_gbs"].value == pytest.approx(1e-9 / LINK.s_per_byte, rel=1e-3)
        assert found["adding_gbs"].value == pytest.approx(1e-9 / LINK.add_s_per_byte, rel=1e-3)
        for name in ("latency_s", "bandwidth_gbs", "adding_gbs", "ring_speedup"):
            assert found[name].consistent()
            assert found[name].n == STARTS
        assert found["unseen_error_percent"].value < 0.1 < found["other_error_percent"].value
        assert found["ring_speedup"].value == pytest.approx(ring, rel=0.2)
        assert found["lenet_bucket_speedup"].value > found["resnet18_bucket_speedup"].value > 1


def test_what_was_measured_with_one_number_of_ranks_predicts_nothing():
    made = measurements("bench_collectives", "cuda")
    few = [m for m in made if m.columns.get("ranks") != 4]
    found = findings("bench_collectives", few, "cuda")
    assert found["unseen_error_percent"].missing.about == "more than 2 ranks"
    assert found["latency_s"]
    assert found["ring_speedup"]
    gradients = findings("bench_collectives", [m for m in few if m.experiment != "message"], "cuda")
    assert gradients.keys() == found.keys()
    assert gradients["latency_s"].missing == Reason("not_measured", "messages")
    assert gradients["library_speedup"]
