"""Reasons why there is no number, or why it decides nothing: a code and its subject, no prose.

A row's remark, conditions.json and the claims contain them as `code: about`.
"""

from collections.abc import Iterable
from typing import NamedTuple, Self


class Reason(NamedTuple):
    """A reason, such as `needs_cores` about 2."""

    code: str
    about: str = ""

    def __str__(self) -> str:
        return f"{self.code}: {self.about}" if self.about else self.code

    @classmethod
    def of(cls, text: str) -> Self:
        """Parse the reason that `str` wrote."""
        code, _, about = text.partition(": ")
        return cls(code, about)


def joined(reasons: Iterable[Reason]) -> str:
    """Join reasons into one text, keeping the first of each code."""
    first: dict[str, Reason] = {}
    for each in reasons:
        first.setdefault(each.code, each)
    return "; ".join(map(str, first.values()))


def split(text: str) -> list[Reason]:
    """Parse the reasons in a text that `joined` wrote."""
    return [Reason.of(each) for each in text.split("; ") if each]


# why a number is missing
SKIPPED = "skipped"  # by its stage; about why
NOT_MEASURED = "not_measured"  # about what
BROKEN = "broken"  # about the number, which is impossible
UNUSABLE = "unusable"  # samples; about why
LAUNCH_BOUND = "launch_bound"  # takes hardly longer than its launch; about what to enlarge
NO_RACE = "no_race"  # the result was also right without an event
NOT_LONGER = "not_longer"  # the second job is no longer than the first; about what to enlarge
GUESSES = "guesses"  # the network has not learned yet
TARGET_MISSED = "target_missed"  # by runs that should need fewer epochs; about how many

# why a claim is not decided
FOREIGN = "foreign"  # device; about its name
UNMET = "unmet"  # need; about its name
DISTURBED = "disturbed"  # times; about what happened
NOT_SEEN = "not_seen"  # something that a sentence only says may happen
TOO_FEW = "too_few"  # samples; about how many

# why a stage skips something
NEEDS = "needs"  # about what
NEEDS_GPU = "needs_gpu"
NEEDS_GPUS = "needs_gpus"  # about how many
NEEDS_TWO_GPUS_OR_NONE = "needs_two_gpus_or_none"
NEEDS_CORES = "needs_cores"  # about how many
NEEDS_LARGER_SIZES = "needs_larger_sizes"  # on this GPU
NEEDS_BF16 = "needs_bf16"  # instructions
NEEDS_LIGHTNING = "needs_lightning"
NEEDS_PROCESSOR = "needs_processor"  # on Linux, without a GPU
NEEDS_CONVOLUTION = "needs_convolution"
NEEDS_FUSED = "needs_fused"  # an optimizer with a fused form
NEEDS_LOADER = "needs_loader"  # one of torch's kind, with tensors
NEEDS_SAME_DATA = "needs_same_data"  # in each epoch
NEEDS_ROOM = "needs_room"  # about how many GiB
ALREADY = "already"  # in the reader's own file
NO_TORCHSCRIPT = "no_torchscript"  # about torch's version
OFF = "off"  # about the key of params.yaml
FAILED = "failed"  # to build, load or run here; about the error
NO_TIME = "no_time"  # to compile it

# what happened to a stage; about how much
BUSY = "busy"
SLEPT = "slept"
THROTTLED = "throttled"
GPU_BUSY = "gpu_busy"
DRIFTED = "drifted"  # the machine's speed; about its values before and after
