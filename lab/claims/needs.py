"""What a machine, its data and its settings must be for a claim to be testable."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

CPU = "cpu"  # what stages that name no device_kind compute on, whatever devices there are
GPU_KINDS = ("cuda", "cuda-shared")
DEVICE_KINDS = (CPU, "cpu-virtual", *GPU_KINDS)


class NotTestableError(Exception):
    """What was measured does not decide a claim; the message says why, and what would help."""


@dataclass(frozen=True)
class Need:
    """What a stage must have run on, or with, for a claim to be testable.

    Attributes:
        label: a message that catalogues translate.
        condition: of the stage.
        accepted: its values.
        remedy: what would make the claim testable, a message as well.
    """

    label: str
    condition: str
    accepted: tuple[str | float, ...]
    remedy: str

    def check(self, stage: str, conditions: Mapping[str, Any]) -> None:
        """Raise NotTestableError unless the need is met."""
        found = conditions.get(self.condition)
        if found is None:
            raise NotTestableError(
                f"no {self.condition} in reports/{stage}; `dvc repro {stage}` measures it"
            )
        if isinstance(found, bool) or found not in self.accepted:
            raise NotTestableError(
                f"needs {self.label}: {self.condition} of {stage} is {found!r}; {self.remedy}"
            )


A_GPU, TWO_GPUS, OWN_DEVICES = ("a GPU", "2 GPUs", "a device for each job")
REAL_DATA = "real data"
FETCH = "`invoke remeasure --stage fetch` with a network brings it"
WITH_TWO_GPUS = "`invoke repro` on a machine with two measures it"

# of claims about GPUs: virtual devices never confirm them
ON_GPU = (
    Need(A_GPU, "device_kind", GPU_KINDS, "`invoke repro` on a machine with one measures it"),
)
ON_TWO_GPUS = (
    Need(TWO_GPUS, "device_kind", ("cuda",), WITH_TWO_GPUS),
    Need(TWO_GPUS, "num_devices", (2,), WITH_TWO_GPUS),
)
# of claims about several devices of any kind: streams of one GPU are one device
ON_OWN_DEVICES = (
    Need(
        OWN_DEVICES,
        "device_kind",
        ("cuda", "cpu-virtual"),
        "`invoke repro` on a machine with two GPUs or none measures it",
    ),
)
# of claims about accuracy, and about losses on the airfoil table: look-alikes say nothing of them
REAL_IMAGES = (Need(REAL_DATA, "dataset", ("fashion-mnist",), FETCH),)
REAL_AIRFOIL = (Need(REAL_DATA, "airfoil", ("original",), FETCH),)
