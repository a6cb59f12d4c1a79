"""The techniques in order, by their names in `together`'s rows."""

from collections.abc import Mapping
from itertools import takewhile
from typing import Any

BASELINE = "baseline: the notes' code"
BF16 = "bfloat16"
HE = "He initialization"
MOMENTUM = "Nesterov momentum"
ONE_CYCLE = "one-cycle schedule"

TECHNIQUES: Mapping[str, Mapping[str, Any]] = {  # changes to the previous recipe
    BASELINE: {},
    "data set in memory": {"loop": "memory"},
    "skip pixels LeNet never uses": {"crops": True},
    "channels-last layout": {"loop": "engine"},
    "reuse freed memory": {"keeps_memory": True},
    BF16: {"precision": "bf16"},
    HE: {"net": "lenet_he"},
    MOMENTUM: {"optimizer": "nesterov", "lr": 0.05},
    ONE_CYCLE: {"schedule": "one_cycle", "lr": 0.15, "epochs": {83: 1, 90: 7}},
    "batch size 128": {"batch_size": 128, "lr": 0.1, "epochs": {83: 1, 90: 5}},
    "two devices": {"num_gpus": 2},
}
SAME_STEPS = (*takewhile(lambda name: name != HE, TECHNIQUES),)  # up to rounding
