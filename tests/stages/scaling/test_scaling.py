"""What scaling times, predicts of its steps, and says on the page."""

from dataclasses import replace

import pytest

from lab.claims.rules import Verdict
from lab.parallel.allreduce.times import NOTHING
from lab.parallel.cost_model import PER_TENSOR, RING, STAR
from lab.results.measurements import Measurement, Results, again, rows_of
from stages.scaling.measure import predictions, step_model
from stages.scaling.measure.predictions import ComparedStep, compared_steps, mean_error, predict
from stages.scaling.measure.steps import halves, planned_of
from stages.scaling.page import claims
from tests.helpers import verdicts
from tests.made_up import STARTS, measurements, metrics
from tests.stages.scaling.made_up import (
    FLOOR,
    GRADIENTS,
    LATE,
    LONGER,
    MS_PER_IMAGE,
    SCALING,
    computing_ms,
    start_by_start,
    summing_ms,
)


def test_parts_that_follow_the_model_predict_steps_that_do_so_too():
    for kind, link in (("cpu-virtual", "shared"), ("cuda", "own")):
        made = measurements("scaling", kind)
        results, m = Results(made), metrics("scaling", made, kind)
        assert (m["link"], m["world_size"]) == (link, 2)
        steps = compared_steps(results)
        assert len(steps) == 2 * 2 * 4
        for late in step_model.waits(results).values():
            assert 1e3 * late == pytest.approx(LATE, rel=1e-2)
        for step in steps:
            assert step.t1.values == pytest.approx(
                [computing_ms(step.net, int(step.measured.x)) * i for i in slowness()], rel=1e-3
            )
        summed_ms = summing_ms("lenet", STAR, True, kind)
        found = predictions.t2_ms(results, "lenet", STAR, PER_TENSOR)
        assert found == pytest.approx(LATE + summed_ms, rel=1e-2), "eight tensors"
        samples_too_low = 0.05
        expected = pytest.approx(100 * (1 - 1 / LONGER), abs=samples_too_low)
        assert m["mean_error_percent"] == expected
        assert m["largest_error_percent"] == expected, "all are as far off"
        assert m["noise_floor_percent"] == pytest.approx(FLOOR, rel=1e-2)
        assert m["max_rule_mean_error_percent"] > m["mean_error_percent"], (
            "the steps do not overlap"
        )
        crossing = 2 * (LATE + summed_ms - 1) / MS_PER_IMAGE["lenet"]
        found = predictions.crossing(results, "lenet", STAR, PER_TENSOR, 2)
        assert found == pytest.approx(crossing, rel=1e-2)


def slowness() -> list[float]:
    """By how much each made-up start is slower than the middle one."""
    return [1 + 0.0005 * i for i in range(-STARTS // 2, STARTS // 2)]


def test_each_start_is_predicted_by_its_own_parts():
    """A machine that is twice as slow in every other start is predicted as well."""
    made = measurements("scaling", "cuda")
    even = [m for m in made if m.experiment not in ("t1", "t2", "efficiency") and len(m.values) > 1]
    slow = [
        replace(m, values=tuple(t * (1 + i % 2) for i, t in enumerate(m.values)))
        if m.unit == "ms"
        else m
        for m in even
    ]
    for measured in (even, slow):
        predicted = start_by_start(measured, lambda start: predict(start, GRADIENTS))
        for step in compared_steps(Results([*measured, *predicted])):
            assert step.errors() == pytest.approx([1 / LONGER - 1] * STARTS, abs=5e-4)


def test_a_batch_out_of_reach_is_on_the_line_and_what_is_beyond_computing_stays():
    results = Results(measurements("scaling", "cuda"))
    expected = [computing_ms("resnet18", 256) * i for i in slowness()]
    [computing] = results.series("notes' batch", "computing", net="resnet18")
    assert (computing.x, computing.values) == (256, pytest.approx(expected))
    by_notes = {"grouping": PER_TENSOR}
    largest = results.one("without communication", "resnet18", 32)
    step = results.one("step", STAR, 32, net="resnet18", **by_notes)
    beyond = [a - b for a, b in zip(step.values, largest.values, strict=True)]
    [at_notes] = results.series("notes' batch", "step", net="resnet18")
    assert [a - b for a, b in zip(at_notes.values, computing.values, strict=True)] == pytest.approx(
        beyond
    )
    [lenet] = results.series("notes' batch", "step", net="lenet")
    measured = results.one("step", STAR, 128, net="lenet", **by_notes)
    assert lenet.values == pytest.approx(measured.values), "measured, where it is within reach"


def test_halves_are_every_other_round():
    assert halves([2.0, 10.0, 6.0, 6.0]) == pytest.approx(-50)
    assert halves([5.0]) == 0


def test_all_that_claims_compare_is_timed_in_turn_and_a_noise_control_with_it():
    planned = planned_of(SCALING)
    found = {m.key: (m, variant) for m, variant in planned}
    assert len(found) == len(planned)
    behind = [each for each in found.values() if each[0].experiment == "behind computing"]
    assert {variant.algorithm for _, variant in behind} == {STAR, RING}
    assert not any(variant.gradients for _, variant in behind)
    assert {(variant.net, variant.images) for _, variant in behind} == {
        ("lenet", 4),
        ("lenet", 128),
    }
    for m, variant in behind:
        count = len(variant.lengths)
        assert m.variant == variant.algorithm
        assert m.columns == {"net": variant.net, "images": variant.images, "tensors": count}
        short = min(16, m.x)
        assert {4 * length for length in variant.lengths} == {m.x, short if count > 1 else m.x}
    sizes = {(m.x, len(variant.lengths)) for m, variant in behind}
    assert sizes == {(16, 1), (16, 8), (16, 76), (65536, 8), (2**22, 1)}
    control, step = planned[-1]
    assert (control.variant, control.x) == (again(STAR), 128)
    assert found[replace(control, variant=STAR).key][1] == step
    assert (step.net, step.images, step.one_bucket, step.gradients) == ("lenet", 128, False, True)
    on_one = {(m.variant, m.x): v for m, v in planned if m.experiment == "one device"}
    assert set(on_one) == {("lenet", 256), ("resnet18", 4), ("resnet18", 32)}
    assert {variant.world_size for variant in on_one.values()} == {1}
    alone = {variant for m, variant in planned if m.experiment == "without communication"}
    assert {(variant.algorithm, variant.world_size) for variant in alone} == {(NOTHING, 2)}


def step(ratios: list[float]) -> ComparedStep:
    """A step predicted to take 3 + 1 ms, and measured to take so many times as long."""

    def ms(values: list[float]) -> Measurement:
        return Measurement("", "", 8, tuple(values), "ms", "cpu-virtual")

    n = len(ratios)
    return ComparedStep(
        "lenet", STAR, PER_TENSOR, ms([4 * r for r in ratios]), ms([3] * n), ms([1] * n)
    )


def test_an_error_is_a_median_over_the_starts_and_their_sizes_are_averaged():
    """Measured 4 and 16 ms for 4: the first is met, the second is a quarter of it."""
    steps = [step([1, 1, 50]), step([4, 4, 0.1])]
    assert mean_error(steps) == pytest.approx((0 + 75) / 2)
    assert mean_error(steps, overlap=True) == pytest.approx((25 + 81.25) / 2)


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
