import pytest

from lab.claims.rules import Verdict
from lab.results.measurements import rows_of
from stages.scaling.page import claims
from tests.helpers import verdicts
from tests.made_up import measurements, metrics


@pytest.mark.parametrize("t1", [1.0, 5.0, 500.0])
def test_hidden_share_of_the_shorter_part(t1):
    t2 = 5.0
    shorter = min(t1, t2)
    for hides, step in ((100, max(t1, t2)), (0, t1 + t2), (-100, t1 + t2 + shorter)):
        assert claims.hidden([t1] * 8, [t2] * 8, [step] * 8).value == pytest.approx(hides)


def test_shared_gpu_is_not_several_devices():
    made = measurements("scaling", "cpu-virtual")
    written = metrics("scaling", made, "cpu-virtual")
    found = verdicts(claims.CLAIMS, "scaling", written, rows_of(made))
    assert Verdict.NOT_TESTABLE not in found.values()
    shared = {**written, "device_kind": "cuda-shared"}
    found = verdicts(claims.CLAIMS, "scaling", shared, rows_of(made))
    assert found["E5a"] is Verdict.NOT_TESTABLE
    assert found["E1b"] is Verdict.CONFIRMED, "FLOP are counted"
