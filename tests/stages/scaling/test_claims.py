"""The rules of the claims about computing and communicating."""

import pytest

from lab.results.measurements import rows_of
from stages.scaling.page import claims
from tests.claim_cases import CONFIRMED, NOT_TESTABLE, REFUTED, check_made_up
from tests.helpers import verdicts
from tests.made_up import STARTS, measurements, metrics
from tests.stages.scaling.made_up import HIDDEN, LONGER, computing_ms, summing_ms


def test_what_is_hidden_tells_the_longer_from_the_sum_whatever_the_batch():
    for t1 in (1.0, 5.0, 500.0):
        for hides, step in ((100, max(t1, 5.0)), (0, t1 + 5.0), (-100, t1 + 5.0 + min(t1, 5.0))):
            assert claims.hidden([t1] * 8, [5.0] * 8, [step] * 8).value == pytest.approx(hides)


def test_made_up_results_come_to_the_verdict_and_the_number_that_they_were_made_for():
    """ResNet-18's steps are of 4 and 32 images; at the notes' batch they are on the same line."""
    summing = {net: summing_ms(net, "star", True, "cuda") for net in ("lenet", "resnet18")}
    most = {"lenet": 128, "resnet18": 32}

    def beyond(net: str) -> float:
        return LONGER * (computing_ms(net, most[net]) + 0.5 + summing[net]) - computing_ms(
            net, most[net]
        )

    half, whole = computing_ms("resnet18", 256), computing_ms("resnet18", 512)
    lenet, step = computing_ms("lenet", 128), computing_ms("lenet", 128) + beyond("lenet")
    equal = computing_ms("resnet18", 128)
    efficiency = equal / (equal + beyond("resnet18"))
    hidden = 100 * (lenet + summing["lenet"] - step) / summing["lenet"]
    check_made_up(
        "scaling",
        {
            "E5a": (CONFIRMED, whole / (half + beyond("resnet18"))),
            "E5c": (CONFIRMED, half / summing["resnet18"]),
            "E5d": (CONFIRMED, efficiency / (lenet / step)),
            "G9b": (CONFIRMED, 50 * computing_ms("lenet", 256) / lenet),
            "G10a": (REFUTED, hidden),
            "G10c": (REFUTED, 100 * HIDDEN),
            "G10b": (CONFIRMED, lenet / summing["lenet"]),
            "G12h": (CONFIRMED, 2 * lenet / step),
            "G13": (REFUTED, 100 * (1 - lenet / step)),
        },
    )


def test_one_start_decides_nothing_and_a_shared_gpu_is_not_several_devices():
    made = measurements("scaling", "cpu-virtual")
    m = metrics("scaling", made, "cpu-virtual")
    rows = rows_of(made)
    found = verdicts(claims.CLAIMS, "scaling", m, rows)
    assert NOT_TESTABLE not in found.values(), "between processes all are testable"
    few = [row for row in rows if row["sample"] in ("", 0)]
    counted = {"E1b", "G8a"}
    alone = verdicts(claims.CLAIMS, "scaling", m, few)
    assert {alone[claim] for claim in alone if claim not in counted} == {"inconclusive"}
    assert {found[claim] for claim in counted} == {CONFIRMED}
    on_one_gpu = verdicts(claims.CLAIMS, "scaling", {**m, "device_kind": "cuda-shared"}, rows)
    assert {on_one_gpu[claim] for claim in on_one_gpu if claim not in counted} == {NOT_TESTABLE}
    assert m["starts"] == STARTS
