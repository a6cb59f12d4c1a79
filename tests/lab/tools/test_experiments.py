"""A table of experiments that fits a terminal."""

from lab.tools.experiments import table

SHOWN = """\
Experiment,rev,typ,Created,reports/train/a/metrics.json:loss,gap,lab/core,train.runs.a.lr,seed
,main,baseline,2026-11-24T10:18:18,0.6,3,24ac123,0.1,0
low,83d1890,branch_base,2026-11-24T10:19:14,0.7,4,9e225e8,0.05,1
"""


def test_params_come_before_results_and_files_of_code_not_at_all():
    assert list(table(SHOWN)) == [
        ("", "", "a", "", "a"),
        ("experiment", "gap", "lr", "seed", "loss"),
        ("main", "3", "0.1", "0", "0.6"),
        ("low", "4", "0.05", "1", "0.7"),
    ]


def test_where_nothing_was_tried_there_are_names_alone():
    assert list(table("\r\n")) == [("",), ("experiment",)]
