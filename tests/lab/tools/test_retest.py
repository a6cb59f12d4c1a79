"""Whole runs are kept and compared."""

import pytest

from lab.claims.agreement import agreement_of
from lab.core.files import write_json
from lab.tools import retest
from tests.helpers import hardware
from tests.lab.tools.made_up import write_run


@pytest.fixture
def machine(project):
    write_json(project / "reports" / "hardware.json", hardware("this"))
    return project


def measure(project, speedup: float) -> None:
    """Write a GPU machine's results for the claims about overlapping copies."""
    write_run(project / "reports", "bench_overlap", speedup, device_kind="cuda")


def test_runs_are_kept_in_order_and_their_differences_are_summarised(machine):
    measure(machine, 1.2)
    assert retest.keep().name == "1.json"
    measure(machine, 0.8)
    assert retest.keep().name == "2.json"
    runs = [[*run.judgements.values()] for run in retest.runs()]
    assert list(retest.summary(agreement_of(runs))) == [
        "2 run(s), 1 pairs of effects",
        "0.0 % differ by no more than their intervals explain (aim: 97 %)",
        "apart: C4 (1)",
        "confirmed in one run, refuted in another: C4",
    ]


def test_runs_of_a_different_machine_are_no_retest(machine):
    measure(machine, 1.2)
    retest.keep()
    retest.keep()
    write_json(machine / "reports" / "hardware.json", hardware("that"))
    write_run(machine / "reports", "bench_overlap", machine=hardware("that"))
    assert retest.keep().name == "3.json"
    [run] = retest.runs()
    assert run.hardware == hardware("that")
