"""What torch and torchvision say of themselves, as JSON on the last line: `python -m` this."""

import json

import torch

from lab.machine.torchvision_import import has_compiled_ops, torchvision


def main() -> None:
    """Print it; an error where torch and numpy do not fit each other."""
    torch.ones(1).numpy()
    facts = {
        "torch": torch.__version__,
        "torchvision": torchvision.__version__,
        "gpus": torch.cuda.device_count() if torch.cuda.is_available() else 0,
        "operators": has_compiled_ops(),
    }
    print(json.dumps(facts))


if __name__ == "__main__":
    main()
