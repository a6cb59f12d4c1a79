"""Which stages a run on a machine of made-up speeds says to measure again."""

import pytest

from lab.core.files import write_json
from lab.tools.measure_again import advice, reasons, timed


def of(mean: float, error: float = 0.0, **more: float | str) -> dict[str, float | str]:
    return {"product_gflops_mean": mean, "product_gflops_error": error, **more}


def test_nothing_is_said_of_stages_within_a_tenth_of_the_median():
    assert reasons({}) == {}
    assert reasons({"alone": of(7)}) == {}
    assert reasons({"a": of(100), "b": of(110), "c": of(90)}) == {}


def test_a_stage_is_slower_by_what_it_lacks_of_the_median():
    assert reasons({"a": of(100), "b": of(300), "c": of(79)}) == {"c": "21 % slower"}


@pytest.mark.parametrize(("error", "is_slower"), [(4.9, True), (5.1, False)])
def test_a_flickering_machine_is_slower_only_beyond_the_error_of_its_readings(error, is_slower):
    found = reasons({"a": of(100), "b": of(100), "c": of(85, error)})
    assert found == ({"c": "15 % slower"} if is_slower else {})


def test_a_machine_that_slows_down_during_a_run_slows_the_later_stages():
    """Half as fast from the fourth of six stages on: the median is between the two speeds."""
    speeds = dict(zip("abcdef", [200, 200, 200, 100, 100, 100], strict=True))
    assert [*reasons({stage: of(speed) for stage, speed in speeds.items()})] == ["d", "e", "f"]


def test_what_keeps_times_from_deciding_is_a_reason_of_its_own():
    found = reasons({"a": of(100, busy_percent=33.0), "b": of(50), "c": of(100)})
    assert found == {"a": "busy: 33 % > 20 %", "b": "50 % slower"}
    assert reasons({"b": of(50, disturbed="slept: 9 s")}) == {"b": "slept: 9 s"}


def test_a_run_names_what_it_measured_itself_and_the_commands(tmp_path):
    def measured(folder, conditions):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        write_json(tmp_path / folder / "conditions.json", conditions)

    measured("bench_async", of(50))
    measured("bench_overlap", of(60))
    measured("landscapes", {"dataset": "real"})
    measured("reference/other/bench_async", of(1))
    before = timed(tmp_path)
    assert before.keys() == {"bench_async", "bench_overlap"}
    assert advice(before, before) == ""
    measured("bench_overlap", of(61))
    measured("bench_input", of(100))
    measured("scaling", of(100))
    measured("train/record_83", of(70))
    line = advice(before, timed(tmp_path))
    # of 61, 70, 100 and 100, the median is 85
    assert "bench_overlap (28 % slower), train@record_83 (18 % slower)" in line
    assert line.endswith(
        "invoke remeasure --stage bench_overlap && invoke remeasure --stage train@record_83"
    )
    assert "\n" not in line


def test_a_damaged_file_does_not_end_the_run(tmp_path):
    (tmp_path / "scaling").mkdir()
    (tmp_path / "scaling" / "conditions.json").write_text("{")
    assert timed(tmp_path) == {}
