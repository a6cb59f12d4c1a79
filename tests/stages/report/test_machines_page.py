"""The page of all machines, whatever they are and whatever they found."""

from dataclasses import replace

import pytest

from lab.claims.rules import Verdict
from lab.core.files import REPORTS
from lab.report.language import locale
from lab.report.prose import fill_in
from lab.results.diff import Taken
from lab.results.findings import Finding, Over
from lab.tools.references import Reference
from stages.report.calls import of_each_page
from stages.report.evidence import read_evidence
from stages.report.machines_page import values
from stages.report.site import text_of as file_of_text
from tests.helpers import COMMITTED, hardware
from tests.stages.report.texts import text_of

PEAK = Finding(100.0, 90.0, 110.0, 8, Over.STARTS, "GFLOP/s", "more")
OF_HERE = {"bench_hardware": {"peak_float32_gflop_per_s": PEAK, "starts": 8}}
NAME = "a<b>|machine"


@pytest.fixture
def evidence(monkeypatch):
    monkeypatch.chdir(COMMITTED)
    return replace(read_evidence(REPORTS), references=[])


def other(evidence, refuted=None):
    """Return a machine with two GPUs and the same verdicts, except for one claim."""
    judged = {f.claim.id: f for f in evidence.judgements}
    if refuted:
        judged[refuted.claim.id] = replace(refuted, verdict=Verdict.REFUTED)
    peak = Finding(250.0, 250.0, 250.0, 1, Over.STARTS, "GFLOP/s")
    taken = {"bench_hardware": Taken({"peak_float32_gflop_per_s": peak}, {"starts": 1})}
    return Reference(NAME, hardware("a server's CPU", ["H9", "H9"]), "full", taken, judged)


def page(evidence):
    """Return the page's English text; both languages must show the same numbers."""
    told = []
    for language in ("en", "zh"):
        with locale(language):
            names = values(OF_HERE, evidence) | of_each_page("machines", evidence)
            prose = fill_in(file_of_text("machines"), names, headings=False)
        html = "".join(f"<h2>{part.heading}</h2>{part.html}" for part in prose.parts.values())
        told.append(text_of(f"<main>{html}</main>"))
    english, chinese = told
    assert english.numbers == chinese.numbers
    assert english.problems == chinese.problems == []
    return english.visible + english.folded


def test_the_page_of_a_single_machine_says_so_and_names_damaged_files(evidence):
    alone = page(replace(evidence, damaged=["half.json: damaged"]))
    assert "no results of other machines" in alone
    assert "None of these machines has a GPU" in alone
    assert "100 (90–110)" in alone
    assert "half.json: damaged" in alone


def test_seconds_of_a_step_are_shown_in_milliseconds(evidence):
    steps = {
        f"lenet_{whose}_s": Finding(seconds, seconds, seconds)
        for whose, seconds in (("notes", 0.05), ("ours", 0.02))
    }
    of_here = OF_HERE | {"bench_training": steps}
    [shown] = values(of_here, evidence)["machines"].values()
    assert shown["numbers"] == ["100 (90–110)", "–", "50", "20"]


def test_machines_are_compared_and_claims_that_fail_elsewhere_are_named(evidence):
    both = page(replace(evidence, references=[other(evidence)]))
    assert NAME in both
    assert "2 × H9" in both
    assert "2.5 times as fast as the slowest" in both
    assert "Exceptions" not in both
    held = next(f for f in evidence.judgements if f.verdict is Verdict.CONFIRMED)
    apart = page(replace(evidence, references=[other(evidence, refuted=held)]))
    assert f"Exceptions: {held.claim.id}." in apart
