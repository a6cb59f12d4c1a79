"""What a check of the doctor says: a line, perhaps with the one command that mends it.

Only the standard library is imported here and in `__main__`, so that the doctor speaks in half a
copy of the project and without any package.
"""

import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "note", "warn", "FAIL"]
FIX = "invoke doctor --fix"


@dataclass(frozen=True)
class Finding:
    """One line.

    Attributes:
        level: `note` is worth knowing, `warn` works but will not for long, `FAIL` does not work.
        text: what is so.
        command: what mends it, if something must be mended.
        exit_code: of the doctor, if this is the first failure.
        mend: what `--fix` does about it; returns what it did.
    """

    level: Level
    text: str
    command: str = ""
    exit_code: int = 0
    mend: Callable[[], str] | None = None

    def __str__(self) -> str:
        """The line, whatever breaks of lines the text has."""
        text = " ".join(self.text.split())
        return f"{text}; `{self.command}`" if self.command else text


def ok(text: str) -> Finding:
    """Something is well."""
    return Finding("ok", text)


def note(text: str, command: str = "") -> Finding:
    """Something that explains what a user may wonder about."""
    return Finding("note", text, command)


def warn(text: str, command: str = "", mend: Callable[[], str] | None = None) -> Finding:
    """Something to mend, although the lab works without."""
    return Finding("warn", text, command, mend=mend)


def fail(
    text: str, command: str = "", exit_code: int = 4, mend: Callable[[], str] | None = None
) -> Finding:
    """Something without which the lab does not work."""
    return Finding("FAIL", text, command, exit_code, mend)


def python(arguments: str) -> str:
    """A command of the interpreter that the lab runs on, whatever `python` on PATH is."""
    return f"{shlex.quote(sys.executable)} {arguments}"


def some(names: list[str], at_most: int = 3) -> str:
    """The first names of a list, and how many more there are."""
    more = len(names) - at_most
    return ", ".join(names[:at_most]) + (f" and {more} more" if more > 0 else "")
