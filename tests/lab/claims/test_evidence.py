import pytest

from lab.claims.evidence import Column, Evidence, Metric, NotTestableError

ROWS = [
    {"variant": "SGD, rate 1", "value": 2.0},
    {"variant": "SGD", "value": 9.0},
    {"variant": "SGD, rate 2", "value": 1},
]
RATES = Column("s", "value", {"variant": "SGD, rate *"})
ALONE = Column("s", "value", {"variant": "SGD"})


def test_columns_match_whole_cells_or_patterns():
    evidence = Evidence({}, {"s": ROWS})
    assert evidence.read(RATES) == (2.0, 1.0)
    assert evidence.read(ALONE) == (9.0,)
    assert evidence.read(Column("s", "value")) == (2.0, 9.0, 1.0)


def test_one_damaged_cell_spoils_its_column():
    evidence = Evidence({}, {"s": [*ROWS, {"variant": "SGD", "value": ""}]})
    assert evidence.read(RATES) == (2.0, 1.0)
    with pytest.raises(NotTestableError, match="column value"):
        evidence.read(ALONE)


def test_skipped_row_gives_the_stages_reason():
    rows = [{"variant": "SGD", "value": "", "remark": "skipped: needs a CUDA GPU"}]
    with pytest.raises(NotTestableError, match="needs a CUDA GPU"):
        Evidence({}, {"s": rows}).read(ALONE)


NO_NUMBERS = (None, "", "fast", True, [1.0], {}, float("nan"), float("inf"), 10**400)


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_metric_that_is_no_number_names_the_remedy(value):
    assert Evidence({"s": {"x": 3}}, {}).read(Metric("s", "x")) == 3.0
    with pytest.raises(NotTestableError, match="`dvc repro s`"):
        Evidence({"s": {"x": value}}, {}).read(Metric("s", "x"))


def test_what_is_missing_names_the_run():
    for read in (Metric("train/lenet", "x"), Column("train/lenet", "x")):
        with pytest.raises(NotTestableError, match="`dvc repro train@lenet`"):
            Evidence({}, {}).read(read)
