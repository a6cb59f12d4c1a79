"""JSON files that have a form."""

from pathlib import Path

import pytest

from lab.core.errors import DataError
from lab.core.files import write_json
from lab.machine import hardware as machine
from lab.results.documents import Hardware, Metrics, read_document, read_hardware
from lab.tools.references import read_reference
from tests.helpers import ROOT, hardware


def test_what_probe_finds_and_what_is_committed_have_their_forms(tmp_path):
    write_json(tmp_path / "hardware.json", machine.facts())
    assert read_hardware(tmp_path / "hardware.json") == machine.facts()
    read_hardware(ROOT / "reports" / "hardware.json")
    for path in (ROOT / "reports" / "reference").glob("*.json"):
        assert read_reference(path)["name"] == path.stem
    for path in (ROOT / "reports").rglob("metrics.json"):
        read_document(path, Metrics, "mend it")


def test_each_fact_that_is_missing_or_of_another_type_is_named(tmp_path):
    path = tmp_path / "hardware.json"
    for group, form in Hardware.model_fields.items():
        for key in form.annotation.model_fields:
            for damage in ("missing", "another type"):
                facts = hardware("this")
                if damage == "missing":
                    del facts[group][key]
                else:
                    facts[group][key] = {}
                write_json(path, facts)
                with pytest.raises(DataError, match=rf"hardware\.json: damaged \({group}\.{key}: "):
                    read_hardware(path)


def test_what_mends_it_is_said_of_a_missing_one_too():
    with pytest.raises(DataError, match="not there yet; `invoke repro` makes it"):
        read_hardware(Path("reports/none.json"))
