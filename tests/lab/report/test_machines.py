"""Results of several machines under one reports folder."""

import pytest

from lab.core.errors import DataError
from lab.core.files import write_json, write_rows
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


def test_results_of_another_machine_are_not_this_ones(tmp_path):
    measured(tmp_path, "bench_async", HERE)
    assert this_machine(tmp_path, HERE) == HERE
    with pytest.raises(DataError, match="invoke repro"):
        this_machine(tmp_path, THERE)


def test_a_speed_before_and_after_is_a_range_and_needs_both():
    taken = {"product_gflops_before": 283.1, "product_gflops_after": 255.2}
    assert speeds(taken) == []
    [sentence] = speeds(taken | {"copy_gbs_before": 24.1, "copy_gbs_after": 24.4})
    assert "260–280 GFLOP/s" in sentence  # the lower one first
    assert " 24 GB/s" in sentence
