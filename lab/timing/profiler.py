"""torch's profiler as it is used here.

`torch.profiler.profile` wraps this one and imports Inductor, for seconds in each process.
"""

import os

os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # its library would print that it starts

from torch.autograd.profiler import profile

__all__ = ["profile"]
