from itertools import count

import pytest
import torch

from lab.core.errors import MachineError
from lab.tools import try_gpus

CPUS = [torch.device("cpu")] * 2


@pytest.mark.parametrize("planted", [None, "a bit", "all", "one direction"])
def test_damaged_copies_between_gpus_are_named(monkeypatch, planted):
    """Uses two CPU devices, and a copy that changes what arrives."""
    monkeypatch.setattr(try_gpus, "COPIED_BYTES", 2**16)
    calls, real = count(), torch.Tensor.copy_

    def copy_(self: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
        before = self.clone()
        real(self, source)
        if planted == "a bit":
            self[-1] ^= 1
        elif planted == "all" or (planted == "one direction" and next(calls) == 1):
            real(self, before)
        return self

    monkeypatch.setattr(torch.Tensor, "copy_", copy_)
    if planted is None:
        try_gpus.try_devices(CPUS)
    else:
        with pytest.raises(MachineError, match=r"from cpu to cpu arrive damaged.*`export CUDA"):
            try_gpus.try_devices(CPUS)
