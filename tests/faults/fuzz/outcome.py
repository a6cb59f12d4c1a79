"""What became of an input: accepted, refused clearly, or unclear."""

import contextlib
import os
import re
import resource
import signal
import sys
import traceback
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, Literal, NamedTuple

from lab.core.errors import LabError

SECONDS = 5  # for one input
MIB = 300  # more than it may take
MOST_LINES, LONGEST_LINE = 60, 1000
CURE = re.compile(r"; \S|: expected \S.+, got ")  # of a value in params.yaml: what it may be
ROOT = str(Path(__file__).resolve().parents[3])


class Outcome(NamedTuple):
    """`place` is the same for inputs that fail in the same way."""

    kind: Literal["accepted", "refused", "unclear"]
    words: str = ""
    place: str = ""


class SlowError(BaseException):
    """An input took more than its seconds; no `except Exception` on the way may hide that."""


class EscapeError(BaseException):
    """An input made the code write outside the project, start a process or open a connection."""


def outcome(
    call: Callable[[], object], codes: tuple[int, ...], also: tuple[type[Exception], ...] = ()
) -> Outcome:
    """What became of it; exceptions in `also` are a documented refusal."""
    peak, before = _peak(), _resident()
    try:
        with _within(SECONDS), _watched():
            call()
        found = Outcome("accepted")
    except LabError as error:
        found = _clear(str(error), error.exit_code, codes)
    except also:
        found = Outcome("refused")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever it is: it is what this looks for
        found = Outcome("unclear", f"{type(error).__name__}: {error}"[:300], _place(error))
    if _peak() > peak and _peak() - before > MIB * 2**20:
        grown = (_peak() - before) >> 20
        return Outcome("unclear", f"took {grown} MiB", "memory")
    return found


def _clear(message: str, code: int, codes: tuple[int, ...]) -> Outcome:
    lines = message.splitlines()
    problems = [
        what
        for what, wrong in (
            (f"exit code {code}, expected {codes}", code not in codes),
            (f"{len(lines)} lines", not 1 <= len(lines) <= MOST_LINES),
            ("a line without a cure", not all(map(CURE.search, lines))),
            ("a long line", max(map(len, lines), default=0) > LONGEST_LINE),
            ("control characters", any(map(_controls, message.replace("\n", "")))),
        )
        if wrong
    ]
    if problems:
        return Outcome("unclear", f"{'; '.join(problems)}: {message[:300]!r}", problems[0])
    return Outcome("refused", lines[0])


def _controls(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")


def _place(error: BaseException) -> str:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(ROOT)]
    inner = frames[-1] if frames else None
    where = f"{Path(inner.filename).relative_to(ROOT)}:{inner.lineno}" if inner else "?"
    return f"{type(error).__name__} at {where}"


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


@contextlib.contextmanager
def _within(seconds: float) -> Iterator[None]:
    def late(number: int, frame: FrameType | None) -> None:
        raise SlowError(f"over {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1)  # again, should something swallow it
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


_watch: list[str] = []  # the folder below which files may be written; empty: nothing is watched
_hooked: list[bool] = []
STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "pty.spawn")
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CHANGES = ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.chmod")


@contextlib.contextmanager
def _watched() -> Iterator[None]:
    """Refuse what an input must not lead to: only the working directory may be written to."""
    if not _hooked:
        sys.addaudithook(_audit)
        _hooked.append(True)
    _watch.append(str(Path.cwd()))
    try:
        yield
    finally:
        _watch.clear()


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if not _watch:
        return
    if event in STARTS or event == "socket.connect":
        raise EscapeError(f"{event} {arguments}"[:200])
    if event == "open":
        path, _, flags = arguments
        if isinstance(path, str | bytes) and isinstance(flags, int) and flags & WRITES:
            _inside(event, os.fsdecode(path))
    elif event in CHANGES:
        for path in arguments[:2]:
            if isinstance(path, str | bytes) and path:
                _inside(event, os.fsdecode(path))


def _inside(event: str, path: str) -> None:
    real = os.path.realpath(path)
    if not real.startswith((_watch[0] + os.sep, "/dev/null", "/dev/tty")) and real != _watch[0]:
        raise EscapeError(f"{event} {path}")
