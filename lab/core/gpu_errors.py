"""One-line errors, with advice, for GPUs that torch cannot use, that fail, are lost or are full."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from lab.core.errors import LabError, MachineError, SpaceError

NONE = ("Found no NVIDIA driver", "No CUDA GPUs")  # torch's words if there is no GPU to use
FAILED = (  # beginnings of torch's messages if a GPU or its driver fails
    *NONE,
    *("CUDA error", "CUDA out of memory", "CUDA driver", "CUDA unknown error", "cuDNN error"),
    *("The NVIDIA driver", "NVML_SUCCESS ==", "Unexpected error from cudaGetDeviceCount"),
)
FULL = ("out of memory", "ALLOC_FAILED")
ANOTHER_TORCH = "take another build of torch (pytorch.org, “Start locally”)"
CURES = {  # words of torch or the driver, and what to do
    "too old": f"update the driver, or {ANOTHER_TORCH}",
    "driver version is insufficient": f"update the driver, or {ANOTHER_TORCH}",
    "driver combination": "the driver was updated: restart the machine",
    "not yet initialized": "`sudo systemctl start nvidia-fabricmanager`",
    "stub library": "take CUDA's stubs out of LD_LIBRARY_PATH",
    "no kernel image": f"it is too old or too new for this torch: {ANOTHER_TORCH}",
    "busy or unavailable": "another process has exclusive use of it: wait for it, or allow several"
    " by `sudo nvidia-smi -c DEFAULT`",
}
LOOK = "`nvidia-smi` and `dmesg` show more, the same command resumes"


@contextmanager
def gpu_errors(where: str) -> Iterator[None]:
    """Convert torch's errors by `gpu_error`; `where` names the GPU.

    Raises:
        MachineError, SpaceError: as `gpu_error` returns them.
    """
    try:
        yield
    except RuntimeError as error:
        found = gpu_error(error, where)
        if found is None:
            raise
        raise found from None


def gpu_error(error: BaseException, where: str = "a GPU") -> LabError | None:
    """Return our error if torch raised `error` because a GPU failed; None for other errors.

    A full GPU is a SpaceError, whichever process uses its memory. It is a MachineError if a GPU
    failed, was lost, or is in exclusive use by another process, or if the driver does not fit.
    """
    # torch's DataParallel quotes the error of its own thread after a traceback
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
    """Return the advice for a message of torch or the driver."""
    return next((cure for words, cure in CURES.items() if words in text), LOOK)


def reason(text: str) -> str:
    """Return the message's telling sentence: an error that it quotes, or its first."""
    quoted = re.search(r"Error \d+: .*", text)
    return quoted[0] if quoted else re.split(r"\. (?=[A-Z])|\n", text)[0].rstrip(".")


def _who_has_it(text: str) -> str:
    """Return what torch knows of a full GPU: memory requested, memory free, who uses the rest."""
    return text.partition(" Of the allocated memory")[0].rstrip(".")
