"""A check that torch can use the GPUs of the installed driver."""

import os
import warnings

import torch

from lab.core.errors import MachineError
from lab.core.gpu_errors import NONE, cure, reason


def check_driver() -> None:
    """Raise if there is a GPU driver that this torch cannot use.

    torch only warns and reports no usable GPU, so the lab would silently measure the CPU. This is
    intended if CUDA_VISIBLE_DEVICES hides all GPUs.

    Raises:
        MachineError: torch cannot use the driver; the message has torch's words.
    """
    hidden = os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1")
    if hidden or torch.version.cuda is None:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the error below says the same
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
            f" {reason(text)}; {cure(text)}, or `export CUDA_VISIBLE_DEVICES=` to do without"
        ) from None
