"""Fresh processes without imports: each is forked from a server that has only imported.

Importing torch takes seconds, so a stage forks the server from itself right after its imports. A
process of this kind has its own memory, threads and allocator, like one started by hand, and times
vary as much between processes (14 processes of each kind compared: training steps, matrix
multiplications and sums). It ends when its launcher does.
"""

import gc
import math
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import forkserver, resource_tracker, util
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, TypeVar

from lab.core.errors import DistributedError, LabError, MachineError, SpaceError
from lab.core.gpu_errors import gpu_error
from lab.core.process import AT_START, MORE_OPEN_FILES, die_with_parent, lacks_open_files
from lab.machine.limits import killed

# macOS's own libraries do not survive a fork
METHOD = "forkserver" if sys.platform == "linux" else "spawn"
# the path of a socket has 103 at most on macOS, 107 on Linux, with /pymp-12345678/listener-12345678
MOST_FOLDER_BYTES = 103 - 32
SHARED_MEMORY = "/dev/shm"  # noqa: S108  (Linux has it there)
_wanted: dict[str, None] = {}  # the modules that processes need, in order
_imported: set[str] = set()  # those that the server has
T = TypeVar("T")


@dataclass(frozen=True)
class FreshProcess:
    """A running process, and this end of the link to it.

    Attributes:
        name: used in errors.
    """

    name: str
    link: Connection
    process: BaseProcess

    def send(self, value: Any) -> None:
        """Send the process a value that can be pickled.

        Raises:
            DistributedError: the process has ended.
        """
        with self._expected():
            self.link.send(value)

    def receive(self, timeout_s: float = math.inf) -> Any:
        """Wait for a value from the process.

        Raises:
            LabError: the process raised it, or ended without sending anything.
            TimeoutError: nothing came within `timeout_s`.
        """
        with self._expected():
            if timeout_s < math.inf and not self.link.poll(max(0.0, timeout_s)):
                raise TimeoutError
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
            if code == -signal.SIGKILL:
                raise killed(self.name) from None
            raise DistributedError(
                f"{self.name} ended with code {code}; its own error is above"
            ) from None


@contextmanager
def fresh_process(name: str, serve: Callable[..., None], *arguments: Any) -> Iterator[FreshProcess]:
    """Run serve(link, *arguments) in a process until the context ends, which kills it.

    Raises:
        MachineError: no folder can hold the sockets.
    """
    context: Any = multiprocessing.get_context(METHOD)  # of either kind
    _place_sockets()
    if METHOD == "forkserver":
        preload(_modules_of(serve, *arguments))
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


def preload(modules: Sequence[str]) -> None:
    """Start a server that has imported `modules`, or replace one that lacks some.

    A server is replaced only when none of its processes is left. It ignores Ctrl-C, which would
    interrupt its imports.
    """
    _wanted.update(dict.fromkeys(modules))
    if not _wanted.keys() <= _imported and not multiprocessing.active_children():
        forkserver._forkserver._stop()  # type: ignore[attr-defined]
        forkserver.set_forkserver_preload([*_wanted])
        _imported.clear()
        _imported.update(_wanted)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        forkserver.ensure_running()
    finally:
        signal.signal(signal.SIGINT, before)


def _fork_server() -> None:
    """Fork the server from this program, which has its imports and no threads yet."""
    start = util.spawnv_passfds

    def fork(path: bytes, words: Sequence[Any], descriptors: Sequence[int]) -> int:
        if pid := os.fork():
            return pid
        try:
            for descriptor in Path("/proc/self/fd").iterdir():
                if int(descriptor.name) not in (0, 1, 2, *descriptors):
                    with suppress(OSError):  # that of this folder
                        os.close(int(descriptor.name))  # it ends when its launcher's end is closed
            program = words.index("-c") + 1  # Python 3.14 adds the launcher's arguments
            sys.argv = ["-c", *words[program + 1 :]]
            exec(words[program], {})  # noqa: S102  (multiprocessing's own)
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(0)

    _place_sockets()
    resource_tracker.ensure_running()
    sys.stdout.flush()
    util.spawnv_passfds = fork  # type: ignore[assignment]
    try:
        forkserver.ensure_running()
    finally:
        util.spawnv_passfds = start
    _imported.update(sys.modules)


if METHOD == "forkserver":
    AT_START.append(_fork_server)


def _place_sockets() -> None:
    """Place multiprocessing's sockets in /tmp if their paths in TMPDIR would be too long.

    Python does so itself from 2026 on.
    """
    folder = tempfile.gettempdir()
    if len(os.fsencode(folder)) <= MOST_FOLDER_BYTES:
        return
    given, tempfile.tempdir = tempfile.tempdir, "/tmp"  # noqa: S108
    try:
        util.get_temp_dir()  # made once, and kept
    except OSError:
        raise MachineError(
            f"TMPDIR={folder} has {len(folder)} characters, expected at most {MOST_FOLDER_BYTES}"
            " for sockets in it, and /tmp cannot be written to; `export TMPDIR=FOLDER`"
        ) from None
    finally:
        tempfile.tempdir = given


def call_in_subprocess(name: str, function: Callable[..., T], *arguments: Any) -> T:
    """Return function(*arguments), called in a fresh process.

    Raises:
        LabError: the process `name` ended without an answer.
    """
    with fresh_process(name, _answer, function, *arguments) as process:
        answer: T = process.receive()
        return answer


def silence_stdout() -> None:
    """Redirect stdout to stderr: output of libraries is not a result of the command."""
    os.dup2(2, 1)


def _answer(link: Connection, function: Callable[..., Any], *arguments: Any) -> None:
    silence_stdout()
    link.send(function(*arguments))


def _modules_of(*given: Any) -> list[str]:
    """Return the modules that a process needs: those of the given functions, and the program's."""
    program = getattr(sys.modules["__main__"], "__spec__", None)
    whole = [part for each in given for part in _parts(each)]
    functions = [each.__module__ for each in whole if callable(each)]
    return [*functions, *([program.name] if program else [])]


def _parts(given: Any) -> list[Any]:
    """Return the function and arguments of a partial; anything else unchanged, in a list."""
    return [given.func, *given.args] if isinstance(given, partial) else [given]


def _run(
    serve: Callable[..., None],
    link: Connection,
    environment: dict[str, str],
    arguments: tuple[Any, ...],
) -> None:
    """Serve in the new process, for as long as the launcher lives."""
    die_with_parent()
    gc.freeze()  # what the server has imported: or each collection would look through all of it
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C: the launcher decides, and ends this one
    if METHOD == "forkserver":  # by it, locks of a process that is killed would be left behind
        multiprocessing.set_start_method("fork", force=True)
    os.environ.update(environment)  # the server has what was there when it started
    try:
        serve(link, *arguments)
    except (LabError, OSError, EOFError, RuntimeError) as error:
        with suppress(RuntimeError):  # torch raises one wherever it hears of a worker's end
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        explained = error if isinstance(error, LabError) else _explain(error)
        if explained is None:
            raise
        with suppress(OSError):  # unless it is the launcher that is gone
            link.send(explained)


def _explain(error: Exception) -> LabError | None:
    """Return the error of a failed GPU, a dead loader worker or a reached limit; otherwise None."""
    if found := gpu_error(error):
        return found
    said = str(error).strip()
    of_worker = "DataLoader worker" in said
    # Python makes a loader's semaphores in shared memory, too, and names no file
    of_semaphore = isinstance(error, OSError) and error.filename is None
    if lacks_open_files(error):
        return MachineError(MORE_OPEN_FILES)
    if "Bus error" in said or ("No space left" in said and (of_worker or of_semaphore)):
        size = shutil.disk_usage(SHARED_MEMORY).total
        return SpaceError(
            f"{SHARED_MEMORY} is full ({size / 2**20:.0f} MiB), by which a data loader's workers"
            " hand over batches; start the container with --shm-size=1g, or take a smaller batch"
            " size"
        )
    if of_worker or isinstance(error, ConnectionError | EOFError):
        # torch quotes the worker's traceback first
        why = said.splitlines()[-1] if said else type(error).__name__
        return DistributedError(f"a data loader's worker died ({why}); free memory and run again")
    return None
