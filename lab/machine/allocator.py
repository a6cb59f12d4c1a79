"""Freed memory kept in the process: the next training step needs what the last one freed."""

import ctypes
import sys

_MMAP_THRESHOLD, _TRIM_THRESHOLD, _ARENA_MAX = -3, -1, -8  # of glibc's mallopt(3)


def disable_malloc_trim() -> bool:
    """Have glibc keep freed memory in the process; return False if the allocator is not glibc's.

    By default, glibc returns a step's large tensors to the kernel, which clears every page again in
    the next step: about 7000 page faults per LeNet step of 256 images. Call this before other
    threads start.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is None:
        return False
    # older versions of glibc reject a threshold over 32 MiB
    return (
        any(mallopt(_MMAP_THRESHOLD, size) == 1 for size in (2**30, 2**25))
        and mallopt(_TRIM_THRESHOLD, 2**31 - 1) == 1
        and mallopt(_ARENA_MAX, 1) == 1
    )
