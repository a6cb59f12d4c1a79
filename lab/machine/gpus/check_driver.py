"""Whether torch can use the GPUs whose driver is here."""

import os
import warnings

import torch

from lab.core.errors import MachineError
from lab.core.gpu_errors import NONE, cure, reason


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
            f" {reason(text)}; {cure(text)}, or `export CUDA_VISIBLE_DEVICES=` to do without"
        ) from None
