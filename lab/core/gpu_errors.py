"""A GPU that torch cannot use, that fails, is lost or is full: one line, and what to do."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from lab.core.errors import LabError, MachineError, SpaceError

NONE = ("Found no NVIDIA driver", "No CUDA GPUs")  # torch's words where there is none to use
FAILED = (  # and how they begin where one fails, or its driver does
    *NONE,
    *("CUDA error", "CUDA out of memory", "CUDA driver", "CUDA unknown error", "cuDNN error"),
    *("The NVIDIA driver", "NVML_SUCCESS ==", "Unexpected error from cudaGetDeviceCount"),
)
FULL = ("out of memory", "ALLOC_FAILED")
ANOTHER_TORCH = "take another build of torch (pytorch.org, “Start locally”)"
CURES = {  # words of torch or the driver, and what to do about them
    "too old": f"update the driver, or {ANOTHER_TORCH}",
    "driver version is insufficient": f"update the driver, or {ANOTHER_TORCH}",
    "driver combination": "the driver was updated: restart the machine",
    "not yet initialized": "`sudo systemctl start nvidia-fabricmanager`",
    "stub library": "take CUDA's stubs out of LD_LIBRARY_PATH",
    "no kernel image": f"it is too old or too new for this torch: {ANOTHER_TORCH}",
    "busy or unavailable": "another process has it for itself: wait for that, or let several in"
    " by `sudo nvidia-smi -c DEFAULT`",
}
LOOK = "`nvidia-smi` and `dmesg` tell more, the same command resumes"


@contextmanager
def gpu_errors(where: str) -> Iterator[None]:
    """Raise what `gpu_error` makes of an error; `where` says on which GPU it was.

    Raises:
        MachineError, SpaceError: as there.
    """
    try:
        yield
    except RuntimeError as error:
        found = gpu_error(error, where)
        if found is None:
            raise
        raise found from None


def gpu_error(error: BaseException, where: str = "a GPU") -> LabError | None:
    """What is the matter if torch raised an error because a GPU failed; None for any other.

    A GPU that is full, whoever has its memory, is a SpaceError. One that failed, was lost, or is
    another process's, and a driver that does not fit, are MachineErrors.
    """
    # torch's DataParallel quotes, behind a traceback, what a thread of its own raised
    quoted = (line.partition("Error: ")[2] or line for line in str(error).splitlines())
    said = next((line for line in quoted if line.startswith(FAILED)), None)
    if said is None or not isinstance(error, RuntimeError):
        return None
    if any(words in said for words in FULL):
        return SpaceError(
            f"{where}: {_who_has_it(said)}; use a smaller batch or profile, or wait until others"
            " have left it (`nvidia-smi`)"
        )
    return MachineError(f"{where}: {reason(said)}; {cure(said)}")


def cure(text: str) -> str:
    """What to do about a GPU of which torch says so."""
    return next((cure for words, cure in CURES.items() if words in text), LOOK)


def reason(text: str) -> str:
    """The sentence that tells: the first, or the error that another one quotes."""
    quoted = re.search(r"Error \d+: .*", text)
    return quoted[0] if quoted else re.split(r"\. (?=[A-Z])|\n", text)[0].rstrip(".")


def _who_has_it(text: str) -> str:
    """Of a full GPU: how much was asked for, how much is free, who has the rest, if torch knows."""
    return text.partition(" Of the allocated memory")[0].rstrip(".")
