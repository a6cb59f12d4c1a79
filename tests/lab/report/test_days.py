"""The days on which results were measured, of folders as stages leave them."""

from lab.core.files import CONDITIONS, MEASURED_ON, write_json
from lab.report.days import first_and_last_day


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
