"""What scaling derives from its samples."""

import pytest

from lab.parallel.cost_model import allreduce_s
from lab.timing import bench
from stages.bench_hardware import __main__ as bench_hardware
from stages.bench_parallel import __main__ as bench_parallel
from tests import made_up
from tests.made_up import measurements, metrics
from tests.stages.scaling.made_up import LATE


@pytest.mark.parametrize(
    ("kind", "link"), [("cpu-virtual", "shared by all ranks"), ("cuda", "each rank's own")]
)
def test_parts_that_follow_the_model_foretell_steps_that_do_so_too(kind, link):
    m = metrics("scaling", measurements("scaling", kind), kind)
    assert (m["link"], m["heldout_configurations"], m["replicas_stay_equal"]) == (link, 12, "yes")
    assert m["latency_us"] == pytest.approx(100, rel=1e-3)
    assert m["lenet_us_per_image"] == pytest.approx(200, rel=1e-3)
    assert m["ring_wait_ms"] == pytest.approx(0.5, rel=1e-2)
    summed_ms = 1e3 * allreduce_s("star", 2, 8, 516_272, made_up.LINK, kind != "cuda")
    assert m["lenet_star_per_tensor_t2_ms"] == pytest.approx(LATE + summed_ms, rel=1e-2), (
        "eight tensors"
    )
    assert m["mean_error_percent"] == pytest.approx(100 * (1 - 1 / 1.05), abs=0.05), (
        "samples lie 0.025 % too low"
    )
    assert m["max_rule_mean_error_percent"] > m["mean_error_percent"], "the steps do not overlap"
    crossing = m["lenet_star_per_tensor_crossing_batch"]
    assert crossing == pytest.approx(2 * (m["lenet_star_per_tensor_t2_ms"] - 1) / 0.2, rel=1e-2)


def test_what_is_simulated_is_not_said_to_be_measured():
    made = measurements("scaling", "cpu-virtual")
    told = [m for m in made if m.demo.startswith(("strong", "weak"))]
    assert {m.device_kind for m in told} == {"simulated"}
    assert all(m.device_kind != "simulated" for m in made if m not in told)
    assert max(m.x for m in told) == 1024


def test_the_noise_of_one_arm_against_itself_is_not_among_the_results():
    made = [m for m in measurements("bench_parallel", "cpu-virtual") if m.demo != bench.A_AGAINST_A]
    assert bench_parallel.summarise(made, 50) == bench_parallel.summarise(
        measurements("bench_parallel", "cpu-virtual"), 50
    )
    assert bench_hardware.summarise([]) == {}
