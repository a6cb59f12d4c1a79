"""Fresh processes that need not import: each is forked from a server that has imported, no more.

torch takes seconds to import. A process of this kind has its own memory, threads and allocator as
one has that was started by hand, and times differ as much from one to the next (14 starts of each
kind compared, of training steps, products and sums). It ends when its launcher does.
"""

import gc
import multiprocessing
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from lab.core.errors import DistributedError, LabError
from lab.core.process import ORPHANED

# macOS's own libraries do not survive a fork
METHOD = "forkserver" if sys.platform == "linux" else "spawn"
T = TypeVar("T")


@dataclass(frozen=True)
class FreshProcess:
    """A process that was started, and this end of the link to it.

    Attributes:
        name: what errors call it.
    """

    name: str
    link: Connection
    process: BaseProcess

    def send(self, value: Any) -> None:
        """Send it something that can be pickled.

        Raises:
            DistributedError: it has ended.
        """
        with self._expected():
            self.link.send(value)

    def receive(self) -> Any:
        """Wait for what it sends.

        Raises:
            LabError: it ended first; its own, where one ended it.
        """
        with self._expected():
            received = self.link.recv()
        if isinstance(received, LabError):
            raise received
        return received

    @contextmanager
    def _expected(self) -> Iterator[None]:
        try:
            yield
        except (EOFError, BrokenPipeError, ConnectionResetError) as error:
            traceback.clear_frames(error.__traceback__)  # of a buffer that Python 3.13 complains of
            self.process.join()
            code = self.process.exitcode
            raise DistributedError(
                f"{self.name} ended with code {code}; its own error is above"
            ) from None


@contextmanager
def fresh_process(name: str, serve: Callable[..., None], *arguments: Any) -> Iterator[FreshProcess]:
    """A process that runs serve(link, *arguments) with its end of a link.

    It is killed when the context ends.
    """
    context: Any = multiprocessing.get_context(METHOD)  # of either kind
    context.set_forkserver_preload(_imported(serve, *arguments))
    link, its = context.Pipe()
    process = context.Process(
        name=name, target=_run, args=(serve, its, dict(os.environ), arguments), daemon=False
    )
    process.start()
    its.close()  # or its end would not be noticed
    try:
        yield FreshProcess(name, link, process)
    finally:
        process.kill()
        process.join()
        link.close()


def call_in_subprocess(name: str, function: Callable[..., T], *arguments: Any) -> T:
    """What function(*arguments) returns in a fresh process.

    Raises:
        LabError: the process ended without an answer; `name` is what it is called.
    """
    with fresh_process(name, _answer, function, *arguments) as process:
        answer: T = process.receive()
        return answer


def silence_stdout() -> None:
    """Send to stderr what libraries print: it is no result of the command's."""
    os.dup2(2, 1)


def _answer(link: Connection, function: Callable[..., Any], *arguments: Any) -> None:
    silence_stdout()
    link.send(function(*arguments))


def _imported(*given: Any) -> list[str]:
    """The modules that the server imports: those of functions, and the program's own."""
    program = getattr(sys.modules["__main__"], "__spec__", None)
    whole = [part for each in given for part in _parts(each)]
    functions = [each.__module__ for each in whole if callable(each)]
    return [*functions, *([program.name] if program else [])]


def _parts(given: Any) -> list[Any]:
    """A function with arguments bound to it, and these; anything else as it is."""
    return [given.func, *given.args] if isinstance(given, partial) else [given]


def _run(
    serve: Callable[..., None],
    link: Connection,
    environment: dict[str, str],
    arguments: tuple[Any, ...],
) -> None:
    """Be the process: serve for as long as the launcher lives."""
    _end_with_launcher()
    gc.freeze()  # what the server has imported: or each collection would look through all of it
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C: the launcher decides, and ends this one
    # a data loader's workers start as everywhere, not by the server
    multiprocessing.set_start_method(None, force=True)
    os.environ.update(environment)  # the server has what was there when it started
    try:
        serve(link, *arguments)
    except LabError as error:
        link.send(error)
    except (ConnectionError, EOFError, RuntimeError) as error:  # only a loader's worker's death
        if isinstance(error, RuntimeError) and "DataLoader worker" not in str(error):
            raise
        why = " ".join(str(error).split()) or type(error).__name__
        with suppress(OSError):  # unless it is the launcher that is gone
            link.send(
                DistributedError(f"a data loader's worker died ({why}); free memory and run again")
            )


def _end_with_launcher() -> None:
    """End this process as soon as its launcher is gone, even if it already is."""
    launcher = multiprocessing.parent_process()
    assert launcher is not None  # noqa: S101

    def watch() -> None:
        launcher.join()
        os._exit(ORPHANED)

    threading.Thread(target=watch, daemon=True).start()
