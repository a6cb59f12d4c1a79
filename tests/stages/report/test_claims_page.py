"""The page of all claims: its counts for made-up verdicts with known numbers."""

from dataclasses import replace

import pytest

from lab.core.files import REPORTS
from lab.report.language import locale
from lab.report.prose import fill_in
from lab.results.findings import Finding, Over, exact
from stages.report.calls import of_each_page
from stages.report.claims_page import values
from stages.report.evidence import read_evidence
from stages.report.site import text_of as file_of_text
from tests.helpers import COMMITTED
from tests.stages.report.texts import text_of

COUNTS = {  # number of claims judged by each finding
    Finding(2.0, 1.5, 3.0, 8, Over.STARTS): 41,  # sign test: wrong by chance in 2 of 2^8
    Finding(2.0, 1.5, 3.0, 5, Over.SEEDS): 17,  # widened to 99 %
    Finding(2.0, 1.5, 3.0, 2, Over.SEEDS): 6,  # decides nothing
    exact(2.0): 13,  # no chance involved
    None: 9,
}
WRONG_BY_CHANCE = 41 * 2 / 2**8 + 17 * 0.01  # 0.49


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_counts_numbers_intervals_and_verdicts_wrong_by_chance(monkeypatch, language):
    monkeypatch.chdir(COMMITTED)
    evidence = read_evidence(REPORTS)
    found = [finding for finding, n in COUNTS.items() for _ in range(n)]
    judgements = [
        replace(judged, finding=each, cases=(), measured_on="9999-12-31")
        for judged, each in zip(evidence.judgements, found, strict=False)
    ]
    assert len(judgements) == len(found)
    with locale(language):
        told = values(judgements) | of_each_page("claims", evidence) | {"original": True}
        prose = fill_in(file_of_text("claims"), told, headings=False)
    assert told["num_false"] == pytest.approx(WRONG_BY_CHANCE)
    text = text_of(f"<main>{''.join(part.html for part in prose.parts.values())}</main>")
    judged, of_times, by_interval = 41 + 17 + 6 + 13, 41, 41 + 17
    assert {f"{judged}", f"{of_times}", f"{by_interval}", "0.49"} <= text.numbers
