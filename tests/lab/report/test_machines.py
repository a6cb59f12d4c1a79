"""Results of several machines under one reports folder."""

import pytest

from lab.core.errors import DataError
from lab.core.files import write_json, write_rows
from lab.report.machines import machines_of, notes_on, this_machine, warning_of
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


def test_one_training_run_of_another_machine_is_named(tmp_path):
    measured(tmp_path, "train/a", HERE)
    measured(tmp_path, "train/b", THERE)
    [note] = notes_on(machines_of(tmp_path, HERE), "train")
    assert " b:" in note
    assert "train/" not in note


def test_machines_come_by_how_much_they_measured(tmp_path):
    measured(tmp_path, "bench_async", HERE)
    for stage in ("bench_parallel", "scaling"):
        measured(tmp_path, stage, THERE)
    assert machines_of(tmp_path, HERE).all() == [THERE, HERE]


def test_results_of_another_machine_are_not_this_ones(tmp_path):
    measured(tmp_path, "bench_async", HERE)
    assert this_machine(tmp_path, HERE) == HERE
    with pytest.raises(DataError, match="invoke repro"):
        this_machine(tmp_path, THERE)


def test_nothing_is_said_where_one_machine_measured_all(tmp_path):
    measured(tmp_path, "bench_async", HERE)
    found = machines_of(tmp_path, HERE)
    assert not warning_of(found)
    assert found.all() == [HERE]
