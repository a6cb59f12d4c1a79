"""What the index takes from other machines."""

from collections import Counter
from dataclasses import replace

import pytest

from lab.claims.ledger import ledger
from lab.core.files import REPORTS
from lab.report.language import locale
from lab.results.diff import Taken
from lab.results.findings import Finding, Over
from lab.tools.references import Reference
from stages.report import front_page
from stages.report.evidence import read_evidence
from tests.helpers import COMMITTED, hardware

TIMES = {
    f"{which}_to_83_s": Finding(seconds, seconds / 2, seconds * 2, 8, Over.STARTS, "s")
    for which, seconds in (("notes", 30.0), ("best", 3.0))
}


@pytest.mark.parametrize(("busy", "told"), [(0.0, "server: 30 s → 3.0 s (1.5–6.0 s)"), (50.0, "")])
def test_times_of_a_busy_machine_are_not_quoted(monkeypatch, busy, told):
    monkeypatch.chdir(COMMITTED)
    taken = {"together": Taken(TIMES, {"busy_percent": busy})}
    server = Reference("server", hardware("Xeon"), "full", taken, {})
    with locale("en"):
        assert front_page._elsewhere(replace(read_evidence(REPORTS), references=[server])) == told


def test_each_statement_of_a_question_is_counted_once(render):
    evidence, claims = read_evidence(REPORTS), Counter(claim.stage for claim in ledger())
    for stage in ("bench_async", "optimizers"):
        answer = front_page._answer(stage, render(stage, "en", evidence), evidence)
        assert answer.own > 0 and answer.tally
        assert answer.own + sum(answer.tally.values()) == claims[stage]
