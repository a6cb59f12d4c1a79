from lab.claims.rules import Verdict
from lab.results.curves import rows_of
from stages.parallelism.page.claims import CLAIMS
from tests.helpers import verdicts
from tests.stages.parallelism.made_up import parallelism_curves, parallelism_metrics


def test_two_streams_of_one_gpu_are_not_two_devices():
    curves = parallelism_curves()
    of_streams = parallelism_metrics(curves, "cuda-shared")
    found = verdicts(CLAIMS, "parallelism", of_streams, rows_of(curves))
    assert found["G7a"] is Verdict.NOT_TESTABLE
    assert found["G7b"] is Verdict.CONFIRMED, "bytes are counted"
