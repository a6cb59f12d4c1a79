"""torch's profiler without its slow wrapper.

`torch.profiler.profile` wraps this one and imports Inductor, which takes seconds per process.
"""

import os

os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # else its library prints a line when it starts

from torch.autograd.profiler import profile

__all__ = ["profile"]
