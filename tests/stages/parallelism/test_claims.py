"""The rules of the claims about kinds of parallelism, and their verdicts on made-up results."""

from lab.results.curves import rows_of
from stages.parallelism.measure.names import (
    ALEXNET,
    BUSIEST_ADDS,
    DATA,
    EVALUATION_MS,
    LENET_STEP_MS,
    MOST_SENT,
    NOTES_ALLREDUCE,
    ON_BOTH,
    ON_ONE,
    OTHERS_MOVE,
    PIPELINE,
    SHARDED_ALLREDUCE,
    SHARE_OF_FLOP,
    SMALLEST_SHARD,
    TENSOR,
    WIDE_STEP_MS,
)
from stages.parallelism.page.claims import CLAIMS
from tests.claim_cases import CONFIRMED, NOT_TESTABLE, REFUTED
from tests.helpers import verdicts
from tests.stages.parallelism.made_up import (
    BY_DEVICES,
    MOVED,
    MS,
    RATIOS,
    parallelism_curves,
    parallelism_metrics,
)

HERE = {
    "D1a": CONFIRMED,
    "D1b": CONFIRMED,
    "D2d": CONFIRMED,
    "D6h": REFUTED,
    "D10b": CONFIRMED,
    "G7a": CONFIRMED,
    "G7b": CONFIRMED,
    "G7c": CONFIRMED,
    "G7d": REFUTED,
    "G7e": CONFIRMED,
    "G10m": CONFIRMED,
    "G10n": REFUTED,
    "G12a": CONFIRMED,
}


def of(curves, kind="cpu-virtual"):
    return verdicts(CLAIMS, "parallelism", parallelism_metrics(curves, kind), rows_of(curves))


def test_verdicts_on_virtual_devices():
    assert of(parallelism_curves()) == HERE


def test_the_opposite():
    times = {
        LENET_STEP_MS: {DATA: 90.0, PIPELINE: 80.0, TENSOR: 60.0},
        WIDE_STEP_MS: {DATA: 20.0, PIPELINE: 20.0, TENSOR: 20.1},
        EVALUATION_MS: {ON_ONE: 15.0, ON_BOTH: 16.0},
    }
    by_devices = {
        (SHARE_OF_FLOP, SMALLEST_SHARD): [1.0, 0.9],
        (MOST_SENT, NOTES_ALLREDUCE): [1.0, 1.0],
        (OTHERS_MOVE, NOTES_ALLREDUCE): [1.0, 1.2],
        (BUSIEST_ADDS, SHARDED_ALLREDUCE): [100.0, 100.0],
    }
    found = of(
        parallelism_curves(
            RATIOS | {ALEXNET: 180},
            MOVED | {TENSOR: 1e-3},
            ms={**MS, **times},
            by_devices={**BY_DEVICES, **by_devices},
        )
    )
    assert {k for k in HERE if found[k] is HERE[k]} == {"D1a", "D1b", "G7b"}


def test_two_streams_of_one_gpu_are_no_two_devices():
    found = of(parallelism_curves(), "cuda-shared")
    not_testable = {k for k, verdict in found.items() if verdict is NOT_TESTABLE}
    assert not_testable == {"D10b", "G7a", "G7c", "G7d"}
