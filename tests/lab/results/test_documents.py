"""JSON files that have a form."""

from pathlib import Path

import pytest

from lab.core.errors import DataError
from lab.core.files import CONDITIONS, write_json, write_metrics
from lab.machine import hardware as machine
from lab.results.documents import read_conditions, read_hardware, read_metrics
from lab.tools.references import read_reference
from tests.helpers import COMMITTED


def test_what_probe_finds_and_what_is_committed_have_their_forms(tmp_path):
    write_json(tmp_path / "hardware.json", machine.facts())
    assert read_hardware(tmp_path / "hardware.json") == machine.facts()
    read_hardware(COMMITTED / "reports" / "hardware.json")
    for path in (COMMITTED / "reports" / "reference").glob("*.json"):
        assert read_reference(path)["name"] == path.stem
    read_conditions(COMMITTED / "reports" / "fetch")


def test_what_a_stage_writes_is_read_as_one_without_its_machine(tmp_path):
    found = {"dataset": "synthetic", "epoch_s": 1.5, "epoch_s_iqr": 0.1}
    write_metrics(tmp_path, found, compared=["epoch_s"])
    for _ in range(2):  # as the process does that started the ranks of a run
        assert read_metrics(tmp_path) == found
        machine.add_machine(tmp_path)
    assert read_conditions(tmp_path)["machine"] == machine.facts()
    write_json(tmp_path / CONDITIONS, {"epoch_s_iqr": [0.1]})
    with pytest.raises(DataError, match=r"conditions\.json: damaged \(epoch_s_iqr"):
        read_metrics(tmp_path)


def test_what_mends_it_is_said_of_a_missing_one_too():
    with pytest.raises(DataError, match="not there yet; `invoke repro` makes it"):
        read_hardware(Path("reports/none.json"))
