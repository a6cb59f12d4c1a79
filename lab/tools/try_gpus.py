"""Try torch and each GPU: `python -m lab.tools.try_gpus`, which the doctor starts.

This is a separate process, since a wrong build crashes and a broken driver hangs. It prints each
step before taking it, and what it found at the end.
"""

import itertools
import sys
from collections.abc import Sequence

import torch

from lab.core.errors import MachineError
from lab.core.gpu_errors import gpu_errors
from lab.core.process import run
from lab.machine.gpus.check_driver import check_driver

COPIED_BYTES = 2**24


def main() -> None:
    print("importing numpy", flush=True)
    torch.ones(1).numpy()  # fails with a numpy of a different major version
    print("asking for GPUs", flush=True)
    check_driver()
    count = torch.cuda.device_count()
    try_devices([torch.device("cuda", i) for i in range(count)])
    print(f"torch {torch.__version__}, {count} CUDA GPU(s)")


def try_devices(devices: Sequence[torch.device]) -> None:
    """Compute on each device, and copy random bytes between each pair.

    With an IOMMU between them, GPUs may copy wrong bytes to each other and report no error.

    Raises:
        MachineError: a device fails, or copies between two devices arrive damaged.
    """
    for device in devices:
        print(f"computing on {device}", flush=True)
        with gpu_errors(str(device)):
            x = torch.rand(512, 512, device=device)
            (x @ x).sum().item()
    sent = torch.randint(0, 256, (COPIED_BYTES,), dtype=torch.uint8)
    for source, target in itertools.permutations(devices, 2):
        print(f"copying from {source} to {target}", flush=True)
        with gpu_errors(f"{source} to {target}"):
            arrived = (~sent).to(target)
            arrived.copy_(sent.to(source))
            if not torch.equal(arrived.cpu(), sent):
                raise MachineError(
                    f"copies from {source} to {target} arrive damaged, so training on several GPUs"
                    " gives wrong weights; turn off PCIe ACS or the IOMMU in the BIOS, or use one"
                    " GPU: `export CUDA_VISIBLE_DEVICES=0`"
                )


if __name__ == "__main__":
    sys.exit(run(main))
