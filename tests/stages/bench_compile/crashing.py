"""What fresh processes run: in a module of its own, since each imports it."""

import faulthandler
import os

from stages.bench_compile.measure.names import SCRIPT


def crash_in(variant: str) -> int:
    """This process's id, unless the variant is TorchScript."""
    if variant == SCRIPT:
        faulthandler.disable()  # which would print the test's stack
        faulthandler._sigsegv()
    return os.getpid()
