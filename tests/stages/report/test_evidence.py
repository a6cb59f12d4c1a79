"""Other machines' results: shown next to this one's if they differ, and named if damaged."""

import re
import shutil
from collections import Counter

import pytest

from lab.claims.ledger import ledger
from lab.claims.rules import Verdict
from lab.core.files import read_json, write_json
from lab.report.language import locale
from lab.report.verdict_words import SHOWN
from lab.results.derived import taken_under
from lab.tools.references import stage_of
from stages.report import questions
from stages.report.evidence import read_evidence
from tests.helpers import COMMITTED

FAST = {"value": 0.5, "low": 0.4, "high": 0.6, "n": 8, "over": "starts", "unit": "", "better": ""}


@pytest.fixture
def reports(tmp_path):
    """Return a folder with committed results of two questions, hardware.json, and no reference."""
    for stage in ("bench_async", "parallelism"):
        shutil.copytree(COMMITTED / "reports" / stage, tmp_path / stage)
    shutil.copy(COMMITTED / "reports" / "hardware.json", tmp_path)
    return tmp_path


def keep(reports, name, *findings, **conditions):
    """Save the results as a reference, with some findings and conditions changed."""
    stages = {}
    for folder, taken in taken_under(reports).items():
        kept = stage_of(taken)
        for finding in findings:
            kept["findings"][finding] = FAST
        stages[folder] = kept | {"conditions": kept["conditions"] | conditions}
    hardware = read_json(reports / "hardware.json")
    document = {"name": name, "profile": "laptop", "hardware": hardware, "stages": stages}
    write_json(reports / "reference" / f"{name}.json", document)


def test_a_snapshot_of_the_same_results_is_no_other_machine(reports):
    keep(reports, "same")
    assert read_evidence(reports).references == []
    tested = next(f for f in read_evidence(reports).judgements if f.finding)
    keep(reports, "apart", *tested.claim.deciding)
    [other] = read_evidence(reports).references
    assert other.name == "apart"
    assert other.judgements.keys() == {f.claim.id for f in read_evidence(reports).judgements}


def test_a_damaged_reference_is_named_and_left_out(reports):
    keep(reports, "whole")
    (reports / "reference" / "half.json").write_text("{")
    (reports / "reference" / "strange.json").write_text('{"name": "strange", "stages": {"a": 1}}')
    found = read_evidence(reports)
    assert found.references == []
    assert [message.split(":")[0].rsplit("/", 1)[-1] for message in found.damaged] == [
        "half.json",
        "strange.json",
    ]


def test_another_machines_number_is_shown_for_a_claim_untested_here(reports, monkeypatch):
    """Without it the page would only name what is missing; the tally counts it separately."""
    of_gpus = [c for c in ledger() if c.stage == "bench_async" and c.needs]
    keep(reports, "larger", *(each for c in of_gpus for each in c.deciding), device_kind="cuda")
    monkeypatch.chdir(COMMITTED)
    evidence = read_evidence(reports)
    [larger] = evidence.references
    of_page = [f for f in evidence.judgements if f.claim.stage == "bench_async"]
    untested = [f for f in of_page if f.verdict is Verdict.NOT_TESTABLE]
    assert untested
    with locale("en"):
        page = questions.question("bench_async", reports, evidence).html
    listed = page.split('<details id="verdicts">')[1].split("</details>")[0]
    tested = [f for f in untested if larger.judgements[f.claim.id].finding]
    assert len(tested) == len(of_gpus)
    tally = listed.split('larger <span class="tally">')[1].split("</span></span>")[0]
    verdicts = Counter(SHOWN[larger.judgements[f.claim.id].verdict].sign for f in tested)
    assert {sign: int(n) for sign, n in re.findall(r"([✓✗±≈])(\d+)", tally)} == verdicts
    for f in tested:
        [item] = [li for li in listed.split("<li>") if f'#claim-{f.claim.id}"' in li]
        assert re.search("larger: [✓✗±≈] 0.50", item)
