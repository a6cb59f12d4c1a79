"""Ctrl-C while a program imports; this module imports next to nothing, so that it comes first."""

import signal


def end_on_interrupt() -> None:
    """Have Ctrl-C end this process at once, without the traceback of whatever is imported.

    `run` and `raise_signals` of lab/core/process.py listen again. An interrupt that is ignored
    stays ignored.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
