"""What another program answers, which may crash, hang, or not be there."""

import signal
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

KILLED_S = 2  # to be gone after that


@dataclass(frozen=True)
class Answer:
    """What a program wrote, as far as it came; `problem` says how it ended, empty if well."""

    stdout: str
    stderr: str
    problem: str

    def last_word(self) -> str:
        """The last line of its complaint."""
        return (self.stderr.strip().splitlines() or ["no reason given"])[-1]


def ask(words: Sequence[str], seconds: float) -> Answer:
    """Run a program for that long at most.

    One that hangs in a driver cannot even be killed: nobody waits for it, nor for the end of what
    it writes.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        problem = _run(words, seconds, out.fileno(), err.fileno())
        out.seek(0), err.seek(0)
        stdout, stderr = (file.read().decode(errors="replace") for file in (out, err))
        return Answer(stdout, stderr, problem)


def _run(words: Sequence[str], seconds: float, out: int, err: int) -> str:
    try:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
    except OSError as error:
        return f"does not start ({error.strerror})"
    try:
        code = process.wait(seconds)
    except subprocess.TimeoutExpired:
        return f"does not end within {seconds:g} s"
    finally:
        process.kill()
        with suppress(subprocess.TimeoutExpired):
            process.wait(KILLED_S)
    if code < 0:
        return f"ends in {signal.Signals(-code).name}"
    return f"ends with exit code {code}" if code else ""
