"""Metrics are few, and each is read by somebody: a claim, the page or the README."""

import json
import re
from collections import Counter

from lab.claims.evidence import Metric
from lab.claims.ledger import ledger
from lab.training.run_params import RunParams
from tests.helpers import ROOT

MOST_PER_STAGE, MOST_IN_ALL = 12, 200
CONDITIONS = {  # of a measurement: what a person reads before the numbers
    "dataset",
    "airfoil",
    "device_kind",
    "num_devices",
    "threads_per_device",
    "cores",
    "starts",
    "busy_percent",
    "disturbed",
    "not_measurable",
    "product_gflops_before",
    "product_gflops_after",
    "copy_gbs_before",
    "copy_gbs_after",
    "noisy_percent",
    "skipped",
    "controls",
    "false_speedups",
    "control_starts",
    "control_over",
    "control_under",
    *RunParams.model_fields,
}
FOR_DIFFS = {"claims"}  # the page tells verdicts by their rows; `dvc metrics diff` by the counts
KEYS = {
    path.parent.relative_to(ROOT / "reports").as_posix(): set(json.loads(path.read_text()))
    - CONDITIONS
    for path in sorted((ROOT / "reports").glob("**/metrics.json"))
}


def test_a_stage_has_few_metrics():
    too_many = {folder: len(keys) for folder, keys in KEYS.items() if len(keys) > MOST_PER_STAGE}
    assert not too_many, f"over {MOST_PER_STAGE}: {too_many}"
    total = sum(map(len, KEYS.values()))
    assert total < MOST_IN_ALL, Counter({folder: len(keys) for folder, keys in KEYS.items()})


def test_every_metric_is_read_by_a_claim_the_page_or_the_readme(told):
    assert not told.problems, "\n".join(told.problems)
    claimed = {
        (read.folder, read.name)
        for claim in ledger()
        for read in claim.reads
        if isinstance(read, Metric)
    }
    read = claimed | told.read
    read |= {(folder, f"{key}_iqr") for folder, key in read}  # the noise, for `invoke compare`
    in_readme = set(re.findall(r"`(\w+)`", (ROOT / "README.md").read_text()))
    unread = [
        f"{folder}: {' '.join(sorted(left))}"
        for folder, keys in KEYS.items()
        if folder not in FOR_DIFFS
        and (left := {key for key in keys if (folder, key) not in read} - in_readme)
    ]
    assert not unread, "nobody reads\n" + "\n".join(unread)


def test_what_the_page_reads_of_metrics_is_there(told):
    there = {(folder, key) for folder, keys in KEYS.items() for key in keys | CONDITIONS}
    optional = ("_speedup", "_low", "_high")  # a ratio of arms that not every machine has
    missing = [read for read in told.read - there if not read[1].endswith(optional)]
    assert not missing
