"""What scaling derives from its samples, and says on the page."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.claims.rules import Verdict
from lab.machine.torchvision_import import torchvision
from lab.parallel.allreduce.times import NOTHING
from lab.parallel.cost_model import HALVING_DOUBLING, RING, STAR, Link, two_level_s
from lab.results.measurements import AGAIN, Results, rows_of
from stages.scaling.measure import clusters, names, predictor, variants
from stages.scaling.measure.clusters import NETWORKS, PUBLISHED, strong, weak
from stages.scaling.page import claims
from tests.helpers import verdicts
from tests.made_up import STARTS, measurements, metrics
from tests.stages.scaling.made_up import (
    FLOOR,
    GRADIENTS,
    LATE,
    LONGER,
    LONGER_IN_A_ROW,
    MS_PER_IMAGE,
    SCALING,
    computing_ms,
    summing_ms,
)


def test_parts_that_follow_the_model_predict_steps_that_do_so_too():
    for kind, link in (("cpu-virtual", names.SHARED), ("cuda", names.OWN)):
        made = measurements("scaling", kind)
        results, m = Results(made), metrics("scaling", made, kind)
        assert (m[names.LINK], m[names.WORLD_SIZE]) == (link, 2)
        steps = predictor.compared_steps(results)
        assert len(steps) == 2 * 2 * 4
        for late in predictor.waits(results).values():
            assert 1e3 * late == pytest.approx(LATE, rel=1e-2)
        for step in steps:
            assert step.t1.values == pytest.approx(
                [computing_ms(step.net, int(step.measured.x)) * i for i in slowness()], rel=1e-3
            )
        summed_ms = summing_ms("lenet", "star", True, kind)
        found = predictor.t2_ms(results, "lenet", names.BY_NOTES)
        assert found == pytest.approx(LATE + summed_ms, rel=1e-2), "eight tensors"
        samples_too_low = 0.05
        expected = pytest.approx(100 * (1 - 1 / LONGER), abs=samples_too_low)
        assert m[names.MEAN_ERROR] == expected
        assert m[names.LARGEST_ERROR] == expected, "all are as far off"
        in_a_row = pytest.approx(100 * (1 / LONGER_IN_A_ROW - 1), abs=samples_too_low)
        assert m[names.IN_A_ROW_ERROR] == in_a_row
        assert m[names.NOISE_FLOOR] == pytest.approx(FLOOR, rel=1e-2)
        assert m[names.MAX_RULE_MEAN_ERROR] > m[names.MEAN_ERROR], "the steps do not overlap"
        crossing = 2 * (LATE + summed_ms - 1) / MS_PER_IMAGE["lenet"]
        assert predictor.crossing(results, "lenet", names.BY_NOTES, 2) == pytest.approx(
            crossing, rel=1e-2
        )


def slowness() -> list[float]:
    """By how much each made-up start is slower than the middle one."""
    return [1 + 0.0005 * i for i in range(-STARTS // 2, STARTS // 2)]


def test_each_start_is_predicted_by_its_own_parts():
    """A machine that is twice as slow in every other start is predicted as well."""
    even = [m for m in measurements("scaling", "cuda") if m.experiment not in (names.T1, names.T2)]
    slow = [
        replace(m, values=tuple(t * (1 + i % 2) for i, t in enumerate(m.values)))
        if m.unit == "ms"
        else m
        for m in even
    ]
    for made in (even, slow):
        measured = made
        predicted = predictor.predict(measured, GRADIENTS)
        for step in predictor.compared_steps(Results([*measured, *predicted])):
            errors = step.errors(names.SUM_RULE)
            assert errors == pytest.approx([1 / LONGER - 1] * STARTS, abs=5e-4)


def test_a_batch_out_of_reach_is_on_the_line_and_what_is_beyond_computing_stays():
    results = Results(measurements("scaling", "cuda"))
    variant = names.at_notes_batch("resnet18")
    expected = [computing_ms("resnet18", 256) * i for i in slowness()]
    [computing] = results.series(variant, names.COMPUTING)
    assert (computing.x, computing.values) == (256, pytest.approx(expected))
    [largest] = [m for m in results.series(names.ALONE, "resnet18") if m.x == 32]
    [step] = [m for m in results.series(names.MEASURED, "resnet18, star, per tensor") if m.x == 32]
    beyond = [a - b for a, b in zip(step.values, largest.values, strict=True)]
    [at_notes] = results.series(variant, names.STEP)
    assert [a - b for a, b in zip(at_notes.values, computing.values, strict=True)] == pytest.approx(
        beyond
    )
    lenet = results.series(names.at_notes_batch("lenet"), names.STEP)[0]
    [measured] = [m for m in results.series(names.MEASURED, "lenet, star, per tensor") if m.x > 100]
    assert lenet.values == pytest.approx(measured.values), "measured, where it is within reach"


def test_all_that_claims_compare_is_timed_in_turn_and_a_noise_control_with_it():
    found = {
        (experiment, name, x): variant
        for experiment, name, x, variant in variants.variants_of(SCALING)
    }
    behind = {key: variant for key, variant in found.items() if names.computation(key[0])}
    assert {variant.algorithm for variant in behind.values()} == {STAR, RING}
    assert not any(variant.gradients for variant in behind.values())
    assert {(variant.net, variant.images) for variant in behind.values()} == {
        *(("lenet", 4), ("lenet", 128), ("resnet18", 4))
    }
    for (experiment, name, x), variant in behind.items():
        assert names.computation(experiment) == (variant.net, variant.images)
        assert names.count_of(name) == (variant.algorithm, len(variant.lengths))
        short = min(16, x)
        assert {4 * length for length in variant.lengths} == {
            x,
            short if len(variant.lengths) > 1 else x,
        }
    sizes = {(x, len(variant.lengths)) for (_, _, x), variant in behind.items()}
    assert sizes == {(16, 1), (16, 8), (16, 76), (65536, 8), (2**22, 1)}
    step = names.step("lenet", names.BY_NOTES)
    assert found[names.MEASURED, step + AGAIN, 128] == found[names.MEASURED, step, 128]
    in_a_row = found[names.IN_A_ROW, step, 47]
    assert in_a_row == replace(found[names.MEASURED, step, 128], in_a_row=47)
    assert found[names.ONE_DEVICE, "lenet", 256].world_size == 1
    assert {
        x for experiment, net, x in found if (experiment, net) == (names.ONE_DEVICE, "resnet18")
    } == {4, 32}
    alone = found[names.ALONE, "resnet18", 32]
    assert (alone.algorithm, alone.world_size) == (NOTHING, 2)


def test_step_over_its_longer_part():
    assert claims.over_the_longer([4.0] * 8, [2.0] * 8, [6.0] * 8).value == 1.5
    assert claims.over_the_longer([1.0] * 8, [4.0] * 8, [4.0] * 8).value == 1


def test_shared_gpu_is_not_several_devices():
    made = measurements("scaling", "cpu-virtual")
    written = metrics("scaling", made, "cpu-virtual")
    found = verdicts(claims.CLAIMS, "scaling", written, rows_of(made))
    assert Verdict.NOT_TESTABLE not in found.values()
    shared = {**written, "device_kind": "cuda-shared"}
    found = verdicts(claims.CLAIMS, "scaling", shared, rows_of(made))
    assert found["E5a"] is Verdict.NOT_TESTABLE


def test_the_gradients_of_resnet_50_are_counted():
    net = torchvision.models.resnet50()
    assert sum(4 * p.numel() for p in net.parameters()) == clusters.GRADIENT_BYTES


def test_eight_gpus_take_the_published_29_hours():
    """And 256 of them the published hour, at the published efficiency, but for a rounding."""
    steps = clusters.EPOCHS * clusters.IMAGES / 256
    assert clusters.computing_s(32) * steps == pytest.approx(29 * 3600)
    [goyal] = [run for run in PUBLISHED if run.devices == 256]
    assert clusters.computing_s(32) / goyal.step_s == pytest.approx(goyal.efficiency, abs=0.01)


def test_two_levels_are_a_ring_in_each_host_and_one_vector_between_them():
    """4 hosts of 2: the ring in a host moves a vector once; among 4 a ring 1.5 of it, 6 messages,
    halving-doubling as many bytes in 4.
    """
    inside, between = Link(1e-3, 1e-6), Link(1.0, 1e-3)
    in_host = 2 * 1e-3 + 1.0 * 1000 * 1e-6
    by_ring = two_level_s(RING, 4, 2, 1000, inside, between)
    assert by_ring == pytest.approx(in_host + 6 * 1.0 + 1.5 * 1000 * 1e-3)
    halving = two_level_s(HALVING_DOUBLING, 4, 2, 1000, inside, between)
    assert halving == pytest.approx(in_host + 4 * 1.0 + 1.5 * 1000 * 1e-3)
    assert two_level_s(RING, 1, 2, 1000, inside, between) == pytest.approx(in_host)


def test_goyals_run_lies_between_no_overlap_and_full_overlap():
    [goyal] = [run for run in PUBLISHED if run.devices == 256]
    [without] = weak([32], NETWORKS["50 Gb/s"])
    assert without < goyal.efficiency < 1
    assert 1e3 * goyal.t2_s == pytest.approx(2 * 31 / 32 * 102.228 / 6.25 + 10 * 0.03, rel=1e-3)


@given(st.sampled_from(list(NETWORKS)), st.integers(1, 12_500), st.sampled_from([256, 8192]))
def test_no_network_gains_more_than_its_hosts_and_a_faster_one_never_less(name, hosts, batch):
    slow, fast = NETWORKS["25 Gb/s"], NETWORKS[name]
    assert weak([1], fast) == [1]
    assert weak([hosts], slow)[0] <= weak([hosts], fast)[0] <= 1
    [gain] = strong([hosts], batch, fast)
    assert 0 < gain <= hosts
    assert strong([hosts], batch, slow)[0] <= gain


def test_the_faster_algorithm_is_taken():
    network = NETWORKS["100 Gb/s"]
    for hosts in (2, 32, 1024, 12_500):
        times = [clusters.by_algorithm_s(name, hosts, network) for name in (RING, HALVING_DOUBLING)]
        assert clusters.among_hosts_s(hosts, network) == min(times)
