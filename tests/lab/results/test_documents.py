"""JSON files with a schema."""

import pytest

from lab.core.errors import DataError
from lab.core.files import CONDITIONS, write_json, write_rows
from lab.machine import hardware as machine
from lab.results.documents import read_conditions, read_hardware, read_results
from lab.results.measurements import Measurement, rows_of
from lab.tools.references import read_reference
from tests.helpers import COMMITTED


def test_probed_and_committed_files_match_their_schemas(tmp_path):
    write_json(tmp_path / "hardware.json", machine.facts())
    assert read_hardware(tmp_path / "hardware.json") == machine.facts()
    read_hardware(COMMITTED / "reports" / "hardware.json")
    for path in (COMMITTED / "reports" / "reference").glob("*.json"):
        assert read_reference(path)["name"] == path.stem
    read_conditions(COMMITTED / "reports" / "fetch")


def test_conditions_are_read_with_the_machine_and_results_without(tmp_path):
    found = {"dataset": "synthetic", "starts": 5}
    write_json(tmp_path / CONDITIONS, found)
    write_rows(tmp_path, rows_of([Measurement("times", "fast", 4, (1.0, 2.0), "ms")]))
    for _ in range(2):  # the second time with the machine, as after a run of several ranks
        results = read_results(tmp_path)
        assert results.conditions.items() >= found.items()
        assert results.samples("times", "fast").values == (1.0, 2.0)
        machine.add_machine(tmp_path)
    assert read_conditions(tmp_path)["machine"] == machine.facts()
    assert "machine" not in read_results(tmp_path).conditions
    write_json(tmp_path / CONDITIONS, {"starts": [5]})
    with pytest.raises(DataError, match=r"conditions\.json: damaged \(starts"):
        read_results(tmp_path)
