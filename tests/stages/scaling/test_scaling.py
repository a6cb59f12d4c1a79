"""What scaling's claims ask of the devices."""

from lab.claims.rules import Verdict
from lab.results.measurements import rows_of
from stages.scaling.page import claims
from tests.helpers import verdicts
from tests.made_up import measurements, metrics


def test_shared_gpu_is_not_several_devices():
    made = measurements("scaling", "cpu-virtual")
    written = metrics("scaling", made, "cpu-virtual")
    found = verdicts(claims.CLAIMS, "scaling", written, rows_of(made))
    assert Verdict.NOT_TESTABLE not in found.values()
    shared = {**written, "device_kind": "cuda-shared"}
    found = verdicts(claims.CLAIMS, "scaling", shared, rows_of(made))
    assert found["E5a"] is Verdict.NOT_TESTABLE
