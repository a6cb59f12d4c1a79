"""The page of all claims: each with its verdict and its number, then how they were judged."""

from collections import Counter
from collections.abc import Sequence

from lab.claims.agreement import AIM_PERCENT, agreement_of
from lab.claims.ledger import unmeasured
from lab.claims.rules import Verdict
from lab.claims.verdicts import Judgement, by_interval, false_verdicts
from lab.core.files import REPORTS
from lab.data.sources import FASHION_FILES
from lab.report import verdict_words
from lab.report.benchmarks import devices_in_words
from lab.report.language import localized, say
from lab.report.machines import in_one_line
from lab.tools import retest


def values(judgements: Sequence[Judgement]) -> dict[str, object]:
    """Return the values for the text and the template, failed claims first."""
    judged = [f for f in judgements if f.finding]
    runs = retest.runs(REPORTS / "retest")
    of_runs = [run.judgements.values() for run in runs]
    return {
        "judgements": verdict_words.by_interest(judgements),
        "tally": verdict_words.tally(judgements),
        "chapters": sorted({f.claim.section.split(".")[0] for f in judgements}),
        "devices": {
            kind: devices_in_words(kind) for kind in sorted({f.device_kind for f in judgements})
        },
        "num_by_interval": len(by_interval(judgements)),
        "num_false": false_verdicts(judgements),
        "num_judged": len(judged),
        "num_testing": sum(f.tests_its_rule for f in judged),
        "retest": agreement_of(of_runs).of_times,
        "retest_machine": in_one_line(runs[0].hardware) if runs else "",
        "retest_days": sorted({f.measured_on for run in of_runs for f in run if f.measured_on}),
        "aim_percent": AIM_PERCENT,
        "wanting": _wanting(judgements),
        "unmeasured": [
            (verdict_words.place_in_words(e.at), localized(e.says), localized(e.reason))
            for e in unmeasured()
        ],
        "files": FASHION_FILES,
    }


def _wanting(judgements: Sequence[Judgement]) -> list[tuple[str, int]]:
    """Return the unmet needs of untested claims, with the number of claims for each."""
    left_out = say("a comparison that params.yaml leaves out")
    untested = [f.unmet for f in judgements if f.verdict is Verdict.NOT_TESTABLE]
    return Counter(localized(each.label) if each else left_out for each in untested).most_common()
