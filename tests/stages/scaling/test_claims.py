"""The rules of the claims about computing and communicating."""

from lab.claims.rules import NOTES_BATCH
from lab.results.measurements import rows_of
from stages.scaling import claims, names
from tests.claim_cases import CONFIRMED, NOT_TESTABLE, REFUTED, check_rules
from tests.helpers import verdicts
from tests.made_up import measurements, metrics


def test_each_rule_gives_each_verdict_that_it_can():
    check_rules(
        "scaling", {"G13": {CONFIRMED: (1.0, 10.0, 100.0, 2.0), REFUTED: (1.0, 1000.0, 1.0, 2.0)}}
    )


def test_closed_forms():
    assert claims.share_of_communication(10, 1000, 138, 2).value == 50, (
        "10 ms and 128 images of 1 ms"
    )


def test_verdicts_follow_the_steps_and_parts():
    """Steps of t1 + t2 refute the rule of the longer; communication is a small part of them."""
    made = measurements("scaling", "cuda")
    m = metrics("scaling", made, "cuda")
    found = verdicts(claims.CLAIMS, "scaling", m, rows_of(made))
    assert found == {"G10a": REFUTED, "G10b": CONFIRMED, "G13": REFUTED}
    slow = m | {names.LENET_CROSSING: NOTES_BATCH + 1, names.LENET_T2: 1000.0}
    found = verdicts(claims.CLAIMS, "scaling", slow | {names.MAX_RULE_MEAN_ERROR: 9.9}, [])
    assert found == dict.fromkeys(("G10a", "G13"), CONFIRMED) | {"G10b": REFUTED}
    on_cpu = metrics("scaling", measurements("scaling", "cpu-virtual"), "cpu-virtual")
    assert verdicts(claims.CLAIMS, "scaling", on_cpu, [])["G13"] is NOT_TESTABLE
