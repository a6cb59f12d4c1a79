"""What torch and torchvision say of themselves and of GPUs, a line of JSON each: `python -m` this.

The second is asked of the driver, which may hang or crash: then the first is there.
"""

import json

import torch

from lab.core.errors import MachineError
from lab.machine.gpus.errors import check_driver
from lab.machine.torchvision_import import has_compiled_ops, torchvision


def main() -> None:
    """Print it; an error where torch and numpy do not fit each other."""
    torch.ones(1).numpy()
    facts = {
        "torch": torch.__version__,
        "torchvision": torchvision.__version__,
        "operators": has_compiled_ops(),
        "cuda": torch.version.cuda,
    }
    print(json.dumps(facts), flush=True)
    print(json.dumps(_gpus()))


def _gpus() -> dict[str, int | str]:
    try:
        check_driver()
    except MachineError as error:
        return {"gpus": 0, "problem": str(error)}
    return {"gpus": torch.cuda.device_count() if torch.cuda.is_available() else 0}


if __name__ == "__main__":
    main()
