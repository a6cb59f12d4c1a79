"""The names that the stage's measurements and its section share."""

from collections.abc import Sequence

# the rungs of the ladder
NOTES = "the notes' way"
IN_MEMORY = "images in memory"
SEEN_PIXELS = "only pixels that count"
CHANNELS_LAST = "channels last"
KEPT_MEMORY = "memory kept"
BF16 = "bfloat16"
HE = "weights that learn at once"
MOMENTUM = "momentum"
ONE_CYCLE = "one cycle of rates"
BATCH_SIZE = "another batch size"
TWO_DEVICES = "two devices"
RUNGS = (
    NOTES,
    IN_MEMORY,
    SEEN_PIXELS,
    CHANNELS_LAST,
    KEPT_MEMORY,
    BF16,
    HE,
    MOMENTUM,
    ONE_CYCLE,
    BATCH_SIZE,
    TWO_DEVICES,
)
SAME_STEPS = RUNGS[: RUNGS.index(HE)]  # but for rounding
AT_A_CONSTANT_RATE = RUNGS[: RUNGS.index(ONE_CYCLE)]
RECORD = "record_"  # the beginning of a record's name in train.runs, before its accuracy
# those that the stage measures, as long as dvc.yaml has them among its params; others take longer
RECORDS = ("record_83", "record_90", "record_92")


def timed_in_part(rungs: Sequence[str]) -> list[str]:
    """Those of SAME_STEPS but the last: that one is trained whole, and tells how many epochs."""
    return [rung for rung in SAME_STEPS if rung in rungs][:-1]


def target_of(run: str) -> int:
    """The accuracy in percent that a record is to reach, by its name."""
    return int(run.removeprefix(RECORD))


# columns of rows.csv
RUNG, SEED, EPOCH = "rung", "seed", "epoch"
TARGET = "target_percent"  # at which a run ends, or for which its one cycle is long enough
SECONDS = "seconds"  # of training since its start, or of an epoch of a rung that is timed in part
ACCURACY = "test_accuracy_percent"  # empty where a rung is timed in part
THREADS, DEVICE_KIND = "threads", "device_kind"

# metrics: seconds to an accuracy by the notes' way and by all lessons, and how many times as fast
BY_THE_NOTES, BY_ALL, SPEEDUP = "notes_to_{}_s", "all_to_{}_s", "speedup_to_{}"
