"""The schedule of a pipeline's micro-batches on its devices (GPipe, Huang et al. 2019)."""

from collections.abc import Sequence
from typing import NamedTuple


class Slot(NamedTuple):
    """A micro-batch on a device of a pipeline, from `start` to `end`."""

    device: int
    micro_batch: int
    start: float
    end: float


def schedule(durations: Sequence[float], num_micro_batches: int) -> list[Slot]:
    """Return the slots of a forward pass by starting time, each as early as possible.

    `durations` has the time of a micro-batch on each device. The backward pass is the mirror image.
    """
    slots: dict[tuple[int, int], Slot] = {}
    for i in range(num_micro_batches):
        for device, duration in enumerate(durations):
            before = [slots[key].end for key in ((device - 1, i), (device, i - 1)) if key in slots]
            start = max(before, default=0.0)
            slots[device, i] = Slot(device, i, start, start + duration)
    return sorted(slots.values(), key=lambda slot: (slot.start, slot.device))


def idle_share(slots: Sequence[Slot]) -> float:
    """Return the share of all devices' time that is idle: the pipeline bubble."""
    num_devices, end = 1 + max(slot.device for slot in slots), max(slot.end for slot in slots)
    return 1 - sum(slot.end - slot.start for slot in slots) / (num_devices * end)
