"""A GPU that torch cannot use, that fails, is lost or is full: one line, and what to do."""

import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from lab.core.errors import MachineError, SpaceError

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
def gpu_errors(where: str = "a GPU") -> Iterator[None]:
    """Turn what torch raises when a GPU fails into an error; `where` says on which.

    What it raises otherwise stays as it is.

    Raises:
        MachineError: a GPU failed, was lost, is another process's, or its driver does not fit.
        SpaceError: a GPU's memory is full, whoever has it.
    """
    try:
        yield
    except RuntimeError as error:
        text = str(error)
        if not text.startswith(FAILED):
            raise
        if any(words in text for words in FULL):
            raise SpaceError(
                f"{where}: {_who_has_it(text)}; use a smaller batch or profile, or wait until"
                " others have left it (`nvidia-smi`)"
            ) from None
        raise MachineError(f"{where}: {_reason(text)}; {_cure(text)}") from None


def check_driver() -> None:
    """Stop where there is a GPU's driver that this torch cannot use.

    torch merely warns of that, counts no GPUs or those that the driver lists, and the lab would
    measure the processor. Where CUDA_VISIBLE_DEVICES hides all GPUs, that is wanted.

    Raises:
        MachineError: what is wrong with it, in torch's words.
    """
    hidden = os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1")
    if hidden or torch.version.cuda is None:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # which says what the error does
        if torch.cuda.is_available():
            return
    try:
        torch.cuda.init()
    except RuntimeError as error:
        text = str(error)
        if text.startswith(NONE):
            return
        raise MachineError(
            f"torch {torch.__version__}, built for CUDA {torch.version.cuda}, can use no GPU here:"
            f" {_reason(text)}; {_cure(text)}, or `export CUDA_VISIBLE_DEVICES=` to do without"
        ) from None


def _cure(text: str) -> str:
    """What to do about a GPU of which torch says so."""
    return next((cure for words, cure in CURES.items() if words in text), LOOK)


def _reason(text: str) -> str:
    """The sentence that tells: the first, or the error that another one quotes."""
    quoted = re.search(r"Error \d+: .*", text)
    return quoted[0] if quoted else re.split(r"\. (?=[A-Z])|\n", text)[0].rstrip(".")


def _who_has_it(text: str) -> str:
    """Of a full GPU: how much was asked for, how much is free, who has the rest, if torch knows."""
    first = text.partition("\n")[0]
    return first.partition(" Of the allocated memory")[0].rstrip(".")
