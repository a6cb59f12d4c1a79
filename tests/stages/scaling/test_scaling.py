"""Findings of scaling, and what its claims require of the devices."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.claims.rules import Verdict
from lab.parallel.cost_model import RING, allreduce_s
from lab.results.measurements import rows_of
from lab.results.reasons import Reason
from stages.scaling.measure.names import ALLREDUCES
from stages.scaling.model import Compute, fit_compute
from tests.helpers import verdicts
from tests.made_up import LINK, STARTS, conditions_of, findings, measurements
from tests.stages.scaling.made_up import HIDDEN, LONGER, computing_ms


def test_an_overlapped_all_reduce_makes_the_step_shorter():
    found = findings("scaling", measurements("scaling", "cuda"), "cuda")
    assert found["waiting_over_computing"].value == pytest.approx(1.2)
    computing = computing_ms("resnet18", 32)
    summing = 1e3 * allreduce_s(RING, 2, 1, 44_703_272, LINK)
    assert found["after_s"].value == pytest.approx(summing / 1e3, rel=1e-3)
    assert found["during_s"].value == pytest.approx((1 - HIDDEN) * summing / 1e3, rel=1e-3)
    possible = (computing + summing) / max(computing, summing)
    assert found["possible_overlap_speedup"].value == pytest.approx(possible)
    assert found["resnet18_ready_by_half"].value == 0.75, "3000 of 4000 bytes by a third of it"


def test_resnets_batch_in_the_notes_is_on_the_line_through_smaller_ones():
    found = findings("scaling", measurements("scaling", "cuda"), "cuda")
    summing = 1e3 * allreduce_s("star", 2, 76, 44_703_272, LINK)
    computing = computing_ms("resnet18", 256)
    assert found["resnet18_over_summing"].value == pytest.approx(computing / summing)
    beyond = LONGER * (computing_ms("resnet18", 32) + summing) - computing_ms("resnet18", 32)
    speedup = computing_ms("resnet18", 512) / (computing + beyond)
    assert found["resnet18_speedup"].value == pytest.approx(speedup)


@given(st.dictionaries(st.integers(1, 4), st.floats(1e-4, 10), min_size=2))
def test_more_images_take_longer_whatever_is_measured(ms):
    compute = fit_compute(ms)
    assert compute.fixed_ms >= 0
    assert 0 < compute.ms(1) < compute.ms(256)


def test_compute_is_a_line_whose_fixed_time_is_not_negative():
    assert fit_compute({4: 6.0, 16: 18.0}) == Compute(pytest.approx(2), pytest.approx(1))
    assert fit_compute({4: 1.0, 16: 18.0}).fixed_ms == 0
    # at a ms per image, relative errors are a / 4 - 1 and a - 1: least squares give 20 / 17
    assert fit_compute({1: 4.0, 2: 2.0}) == Compute(0, pytest.approx(20 / 17))


def test_the_link_is_recovered_and_predicts_the_times_of_more_ranks():
    for kind, ring in (("cuda", 4), ("cpu-virtual", 1)):  # separate links, one shared link
        found = findings("scaling", measurements("scaling", kind), kind)
        assert found["latency_s"].value == pytest.approx(LINK.alpha_s, rel=1e-3)
        assert found["bandwidth_gbs"].value == pytest.approx(1e-9 / LINK.s_per_byte, rel=1e-3)
        assert found["adding_gbs"].value == pytest.approx(1e-9 / LINK.add_s_per_byte, rel=1e-3)
        for name in ("latency_s", "bandwidth_gbs", "adding_gbs"):
            assert found[name].consistent()
            assert found[name].n == STARTS
        assert found["unseen_error_percent"].value < 0.1 < found["other_error_percent"].value
        assert found["ring_speedup"].value == pytest.approx(ring, rel=0.2)
        assert found["lenet_bucket_speedup"].value > found["resnet18_bucket_speedup"].value > 1


def test_what_was_not_measured_is_missing_and_all_else_is_there():
    made = measurements("scaling", "cuda")
    few = [m for m in made if m.columns.get("ranks") != 4]
    found = findings("scaling", few, "cuda")
    assert found["unseen_error_percent"].missing.about == "more than 2 ranks"
    assert found["latency_s"]
    without = findings("scaling", [m for m in few if m.experiment != "message"], "cuda")
    assert without.keys() == found.keys()
    assert without["latency_s"].missing == Reason("not_measured", "messages")
    assert without["library_speedup"]
    no_steps = findings("scaling", [m for m in few if m.variant not in ALLREDUCES], "cuda")
    assert not no_steps["mean_error_percent"]
    assert not no_steps["over_longer"]


def test_a_shared_gpu_is_not_several_devices():
    made = measurements("scaling", "cpu-virtual")
    written = conditions_of("scaling", made, "cpu-virtual")
    found = verdicts("scaling", written, rows_of(made))
    assert [name for name in found if found[name] is Verdict.NOT_TESTABLE] == ["E5a"]
    shared = {**written, "device_kind": "cuda-shared"}
    found = verdicts("scaling", shared, rows_of(made))
    assert found["E5c"] is Verdict.NOT_TESTABLE
