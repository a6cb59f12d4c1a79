"""What rules read: metrics and columns, and what is said where there are none."""

import pytest

from lab.claims.evidence import Column, Evidence, Metric, NotTestableError

ROWS = [
    {"arm": "SGD, rate 1", "value": 2.0},
    {"arm": "SGD", "value": 9.0},
    {"arm": "SGD, rate 2", "value": 1},
]


def test_columns_keep_the_order_of_the_rows_and_match_whole_cells_or_patterns():
    evidence = Evidence({}, {"s": ROWS})
    assert evidence.read(Column("s", "value", {"arm": "SGD, rate *"})) == (2.0, 1.0)
    assert evidence.read(Column("s", "value", {"arm": "SGD"})) == (9.0,)
    assert evidence.read(Column("s", "value")) == (2.0, 9.0, 1.0)


def test_one_cell_that_is_no_number_spoils_its_column():
    evidence = Evidence({}, {"s": [*ROWS, {"arm": "SGD", "value": ""}]})
    assert evidence.read(Column("s", "value", {"arm": "SGD, rate *"})) == (2.0, 1.0)
    with pytest.raises(NotTestableError, match="no numbers in column value"):
        evidence.read(Column("s", "value", {"arm": "SGD"}))


def test_what_a_stage_skipped_is_not_testable_for_the_stages_own_reason():
    rows = [{"demo": "seconds", "arm": "x", "value": "", "remark": "skipped: needs a CUDA GPU"}]
    with pytest.raises(NotTestableError, match="stage s skipped it: needs a CUDA GPU"):
        Evidence({}, {"s": rows}).read(Column("s", "value", {"arm": "x"}))


def test_a_metric_is_a_finite_number_or_the_command_that_measures_it():
    assert Evidence({"s": {"x": 3}}, {}).read(Metric("s", "x")) == 3.0
    for found in ({}, {"s": {}}, {"s": {"x": "fast"}}, {"s": {"x": True}}, {"s": {"x": 10**400}}):
        with pytest.raises(NotTestableError, match="`dvc repro s` measures it"):
            Evidence(found, {}).read(Metric("s", "x"))
    with pytest.raises(NotTestableError, match="`dvc repro train@lenet` measures it"):
        Evidence({}, {}).read(Metric("train/lenet", "x"))
