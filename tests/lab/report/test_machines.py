"""The machines, days and devices of the results in a reports folder."""

import pytest

from lab.core.errors import DataError
from lab.core.files import CONDITIONS, MEASURED_ON, write_json, write_rows
from lab.report.benchmarks import on_virtual_devices, trust
from lab.report.days import first_and_last_day
from lab.report.machines import machines_of, notes_on, speeds, this_machine, warning_of
from tests.helpers import hardware

HERE, THERE = hardware("Zen"), hardware("Xeon", ["H200"])


def measured(reports, folder, facts):
    write_rows(reports / folder, [{"x": 1.0}])
    if facts:
        write_json(reports / folder / "conditions.json", {"machine": facts})


def test_each_result_keeps_its_machine(tmp_path):
    measured(tmp_path, "bench_async", HERE)
    measured(tmp_path, "bench_parallel", THERE)
    measured(tmp_path, "scaling", None)
    measured(tmp_path, "landscapes", None)  # the same numbers on every machine
    found = machines_of(tmp_path, HERE)
    assert found.stages_elsewhere == ["bench_parallel", "scaling"]
    assert notes_on(found, "bench_async") == []
    [note] = notes_on(found, "bench_parallel")
    assert "Xeon" in note
    assert "H200" in note
    assert len(notes_on(found, "scaling")) == 1
    assert "bench_parallel, scaling (2 of 3" in warning_of(found)
    assert found.of("bench_async") == [HERE]
    assert found.of("bench_parallel") == [THERE]
    assert found.of("scaling") == found.of("landscapes") == found.all()


def test_the_machine_of_most_questions_comes_first(tmp_path):
    for folder, facts in {"bench_async": HERE, "scaling": THERE, "bench_input": THERE}.items():
        measured(tmp_path, folder, facts)
    assert machines_of(tmp_path, HERE).all() == [THERE, HERE]


def test_results_of_a_different_machine_are_refused(tmp_path):
    measured(tmp_path, "bench_async", HERE)
    assert this_machine(tmp_path, HERE) == HERE
    with pytest.raises(DataError, match="invoke repro"):
        this_machine(tmp_path, THERE)


def test_speeds_before_and_after_form_a_range_and_both_are_needed():
    taken = {"product_gflops_before": 283.1, "product_gflops_after": 255.2}
    assert speeds(taken) == []
    [sentence] = speeds(taken | {"copy_gbs_before": 24.1, "copy_gbs_after": 24.4})
    assert "260–280 GFLOP/s" in sentence  # the lower one first
    assert " 24 GB/s" in sentence


def test_days_are_the_first_and_the_last_that_results_record(tmp_path):
    train, scaling, landscapes = (tmp_path / name for name in ("train", "scaling", "landscapes"))
    for run, day in {"a": "2026-03-01", "b": "2026-01-31", "c": "2026-02-11"}.items():
        write_json(train / run / CONDITIONS, {MEASURED_ON: day})
    write_json(scaling / CONDITIONS, {MEASURED_ON: "2026-03-02"})
    write_json(landscapes / CONDITIONS, {"starts": 4})
    (train / "d").mkdir()
    (train / "d" / CONDITIONS).write_text("{")
    assert first_and_last_day([train]) == ["2026-01-31", "2026-03-01"]
    assert first_and_last_day([scaling]) == ["2026-03-02"]
    assert first_and_last_day([landscapes, tmp_path / "not there"]) == []
    assert first_and_last_day([scaling, train, landscapes]) == ["2026-01-31", "2026-03-02"]


BENCHMARK = {"threads_per_device": 1, "starts": 5, "noisy_percent": 10.0, "busy_percent": 0.0}


@pytest.mark.parametrize(
    ("kind", "devices", "virtual"),
    [("cpu-virtual", 1, False), ("cpu-virtual", 2, True), ("cpu", 1, False), ("cuda", 2, False)],
)
def test_a_single_cpu_device_is_not_virtual(kind, devices, virtual):
    taken = BENCHMARK | {"device_kind": kind, "num_devices": devices, "controls": 0}
    assert on_virtual_devices(taken) is virtual
    assert ("virtual" in trust(taken, "bench_async")[0]) is virtual


def test_only_benchmarks_say_how_far_to_trust_them():
    assert trust({}, "train") == []
