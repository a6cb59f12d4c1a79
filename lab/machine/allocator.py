"""Freed memory that stays in the process: what one training step frees, the next one needs."""

import ctypes
import sys

_MMAP_THRESHOLD, _TRIM_THRESHOLD, _ARENA_MAX = -3, -1, -8  # of glibc's mallopt(3)


def disable_malloc_trim() -> bool:
    """Have glibc keep freed memory in the process; False where the allocator is another.

    By default it gives a step's large tensors back to the kernel, which clears every page anew in
    the next step: about 7000 page faults per LeNet step of 256 images. Call it before other threads
    start.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is None:
        return False
    # older versions of glibc refuse a threshold over 32 MiB
    return (
        any(mallopt(_MMAP_THRESHOLD, size) == 1 for size in (2**30, 2**25))
        and mallopt(_TRIM_THRESHOLD, 2**31 - 1) == 1
        and mallopt(_ARENA_MAX, 1) == 1
    )
