"""Run Python in processes that have torch already: forked, not started.

Importing torch takes two seconds, and tests start hundreds of stages and tools. A server of
each test worker imports it once and forks a process for each `python` of the folder `on_path()`.
"""

import atexit
import ctypes
import functools
import json
import multiprocessing
import os
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import psutil

_FORK = multiprocessing.get_context("fork")
_server: psutil.Popen | None = None  # of this worker
PR_SET_CHILD_SUBREAPER = 36  # of Linux's prctl
STANDARD = (0, 1, 2)
ADDRESS = "LAB_FORKED"  # environment variable of all forked processes: the server's socket
# This `python` hands its arguments, environment and streams over, and ends as the forked one does.
CLIENT = """#!/bin/sh
exec '{python}' -IS -c '
import json, os, signal, socket, sys
link = socket.socket(socket.AF_UNIX)
link.connect(os.environ["{address}"])
said = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ), "{folder}/python"]).encode()
socket.send_fds(link, [len(said).to_bytes(8, "little")], [0, 1, 2])
link.sendall(said)
code = int(link.makefile().read() or -9)
if code < 0:
    signal.signal(-code, signal.SIG_DFL) if -code not in (9, 19) else None
    os.kill(os.getpid(), -code)
sys.exit(code)
' "$@"
"""


@functools.cache
def on_path() -> Path:
    """Return a folder for PATH whose `python`, `invoke` and `dvc` are forked from a server.

    The first call starts this worker's server, and puts its address into os.environ.
    """
    folder = Path(tempfile.mkdtemp(prefix="lab-forked-"))
    python = folder / "python"
    python.write_text(CLIENT.format(python=sys.executable, address=ADDRESS, folder=folder))
    for module in ("invoke", "dvc"):
        (folder / module).write_text(f"""#!/bin/sh\nexec '{python}' -m {module} "$@"\n""")
    for command in folder.iterdir():
        command.chmod(0o700)
    os.environ[ADDRESS] = str(folder / "socket")
    global _server
    _server = psutil.Popen(
        [sys.executable, "-m", "tests.forked", os.environ[ADDRESS]],
        stdin=subprocess.PIPE,  # the server ends with it, however this process ends
        stdout=subprocess.PIPE,
        cwd=Path(__file__).resolve().parent.parent,
        env=os.environ | {"PYTHONPATH": "."},
    )
    assert _server.stdout.readline() == b"ready\n"
    return folder


def cpu_seconds() -> float:
    """Return the CPU seconds of this process, its server, and their ended children."""
    known = [os.times()[:4]] + ([_server.cpu_times()[:4]] if _server else [])
    return sum(map(sum, known))


def run(
    module: str,
    *arguments: str,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = 120,
) -> subprocess.CompletedProcess[str]:
    """Run `python -m module arguments` in a folder with an environment."""
    python = on_path() / "python"
    return subprocess.run(
        [python, "-m", module, *arguments],
        cwd=cwd,
        env={**(os.environ if env is None else env), ADDRESS: os.environ[ADDRESS]},
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
    )


def _serve(address: str) -> None:
    """Fork a process for each connection, until stdin ends; then delete the socket's folder."""
    signal.signal(signal.SIGCHLD, _reap)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(128)
        print("ready", flush=True)
        while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
            link, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                _answer(link)
            link.close()
    shutil.rmtree(Path(address).parent)


def _reap(*_: object) -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _answer(link: socket.socket) -> None:
    """Run what a client asks for in a new process, and send its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if sys.platform == "linux":  # reap and count orphans, which are fork servers
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    size, streams, *_ = socket.recv_fds(link, 8, len(STANDARD))
    said = link.makefile("rb").read(int.from_bytes(size, "little"))
    for number, stream in zip(STANDARD, streams, strict=True):
        os.dup2(stream, number)
        os.close(stream)
    process = _FORK.Process(target=_be, args=json.loads(said))  # ends without destroying objects
    process.start()
    for number in STANDARD:  # a pipe's reader waits for the last writer
        os.close(number)

    def end_with_client() -> None:
        if not link.recv(1):
            process.kill()

    threading.Thread(target=end_with_client, daemon=True).start()
    process.join()
    with suppress(BrokenPipeError):
        link.sendall(str(process.exitcode).encode())
    link.close()
    with suppress(ChildProcessError):
        while True:
            os.wait()
    os._exit(0)


def _be(words: list[str], cwd: str, env: dict[str, str], executable: str) -> None:
    """Act as the Python that was called with these words."""
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    if words[0] not in ("-m", "-c"):
        os.execv(sys.executable, [sys.executable, *words])  # noqa: S606
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.executable = executable
    sys.path[:1] = [cwd, *filter(None, env.get("PYTHONPATH", "").split(os.pathsep))]
    sys.argv = words[1:]
    try:
        if words[0] == "-m":
            runpy.run_module(words[1], run_name="__main__", alter_sys=True)
        else:
            exec(words[1], {"__name__": "__main__"})  # noqa: S102
    finally:
        atexit._run_exitfuncs()


if __name__ == "__main__":
    from tests import preloaded as preloaded

    _serve(sys.argv[1])
