"""Code that fresh processes run, in its own module because each of them imports it."""

import faulthandler
import os

from stages.bench_compile.measure.names import SCRIPT


def crash_in(variant: str) -> int:
    """Return this process's id, or crash if the variant is TorchScript."""
    if variant == SCRIPT:
        faulthandler.disable()  # it would print the test's stack
        faulthandler._sigsegv()
    return os.getpid()
