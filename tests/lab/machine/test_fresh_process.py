"""Fresh processes: forked from a server that has imported already; they end with the launcher."""

import gc
import importlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from lab.core.errors import DistributedError, SpaceError
from lab.core.process import INTERRUPTED
from lab.data.loaders import book_images, loader
from lab.machine.fresh_process import call_in_subprocess, fresh_process
from tests import forked
from tests.helpers import ROOT, in_namespaces, needs_namespaces, outlived, write_data


def place_and(variable):
    print("a library's own words")
    return os.getpid(), str(Path.cwd()), os.environ.get(variable)


def echo(link):
    while True:
        link.send(link.recv())


def test_each_call_runs_in_its_own_process_with_the_launchers_folder_and_environment(
    tmp_path, monkeypatch, capfd
):
    """The server's own may differ: it started earlier."""
    call_in_subprocess("one before", place_and, "SOME_VARIABLE")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOME_VARIABLE", "3")
    found = [call_in_subprocess("one", place_and, "SOME_VARIABLE") for _ in range(2)]
    assert len({os.getpid(), *(pid for pid, *_ in found)}) == 3
    assert [rest for _, *rest in found] == [[str(tmp_path), "3"]] * 2
    assert "library" not in capfd.readouterr().out


@pytest.mark.skipif(sys.platform != "linux", reason="there processes are not forked")
def test_the_server_imports_what_each_process_needs_even_a_later_one(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{ROOT}")  # for the server
    for name in ("earlier", "later"):
        (tmp_path / f"{name}.py").write_text(
            "import os\nIMPORTED_BY = os.getpid()\n"
            "def importer():\n    return IMPORTED_BY, os.getpid()\n"
        )
        work = importlib.import_module(name).importer
        by, own = call_in_subprocess(name, work)
        assert by not in (own, os.getpid())


IMPORTS_ONCE = """
import sys
from lab.core.process import run
from lab.machine.fresh_process import call_in_subprocess
from counted import work

def main():
    print("processes:", len({call_in_subprocess("one", work) for _ in range(3)}))

sys.exit(run(main))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="there processes are not forked")
def test_processes_inherit_the_programs_imports(tmp_path):
    (tmp_path / "counted.py").write_text(
        "import os\nprint('imported', flush=True)\ndef work():\n    return os.getpid()\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", IMPORTS_ONCE],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (ended.stdout, ended.stderr) == ("imported\nprocesses: 3\n", "")


IMPORTS_SLOWLY = """
import sys
from lab.core.process import run
from lab.machine.fresh_process import call_in_subprocess

def main():
    from slow import work
    call_in_subprocess("a process of a slow module", work)

sys.exit(run(main))
"""

SLOW_IN_THE_SERVER = """
import sys, time

def work():
    pass

if "forkserver" in " ".join(sys.orig_argv):
    print("begun", flush=True)
    time.sleep(2)
"""


def test_a_server_that_is_importing_ignores_ctrl_c(tmp_path):
    """A terminal sends SIGINT to all processes; only the launcher reports it."""
    (tmp_path / "slow.py").write_text(SLOW_IN_THE_SERVER)
    with subprocess.Popen(
        [sys.executable, "-c", IMPORTS_SLOWLY],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout.readline() == "begun\n"
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert (process.returncode, said) == (130, f"ERROR: {INTERRUPTED}\n")


KEEPS_A_LOCK = """
import sys
from lab.core.process import run
from lab.machine.fresh_process import fresh_process

def lock(link):
    import multiprocessing
    from tqdm import tqdm
    kept = [multiprocessing.Lock(), *tqdm(range(3), disable=True)]
    link.send("locked")
    link.recv()

def main():
    with fresh_process("a process that is killed", lock) as process:
        process.receive()

if __name__ == "__main__":
    sys.exit(run(main))
"""


def test_a_killed_process_leaves_no_lock_behind(tmp_path):
    """Otherwise Python would warn about the leaked lock when the server ends."""
    (tmp_path / "keeps_a_lock.py").write_text(KEEPS_A_LOCK)
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"}
    words = [sys.executable, "-m", "keeps_a_lock"]
    ended = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


FAILS = """
from lab.core.process import run
from lab.machine.fresh_process import call_in_subprocess
run(lambda: call_in_subprocess("the third", int, "no number"))
"""


def test_a_process_that_ends_without_an_answer_is_named_after_its_own_error(project):
    """Runs as a separate program: the server here has the standard error of an earlier test."""
    command = [sys.executable, "-c", FAILS]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    found = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    *_, words, error = found.stderr.splitlines()
    assert words == "ValueError: invalid literal for int() with base 10: 'no number'"
    assert error == "ERROR: the third ended with code 1; its own error is above"
    assert not found.stdout


def test_a_killed_process_is_named_on_both_send_and_receive():
    """It also leaves nothing that Python 3.13 would complain about later."""
    with fresh_process("echo", echo) as process:
        process.process.kill()
        process.process.join()
        for expected in (process.receive, lambda: process.send(3)):
            with pytest.raises(SpaceError, match=r"^echo was killed .* memory is short \(.* GiB"):
                expected()
    gc.collect()


def load_and_lose_a_worker():
    batches = iter(loader(book_images(), 4, 1))
    next(batches)
    [worker] = psutil.Process().children()
    worker.kill()
    return sum(1 for _ in batches)


def test_a_lost_loader_worker_is_reported_with_what_to_do(project):
    write_data(project / "data", train=70, test=10)
    with pytest.raises(DistributedError, match=r"^a data loader's worker died \(.*; free"):
        call_in_subprocess("a loader", load_and_lose_a_worker)


class ToldTwiceError(ConnectionResetError):
    """A lost worker's error; formatting it triggers torch's handler for the same loss."""

    def __str__(self):
        signal.raise_signal(signal.SIGCHLD)
        return super().__str__()


def hear_of_a_lost_worker_twice():
    def handler(number, frame):
        raise RuntimeError("DataLoader worker (pid 1) is killed by signal: Killed.")

    signal.signal(signal.SIGCHLD, handler)
    raise ToldTwiceError("reset by peer")


def test_a_lost_worker_that_is_noticed_twice_is_reported_once():
    with pytest.raises(DistributedError, match=r"^a data loader's worker died \(reset by peer\)"):
        call_in_subprocess("a loader", hear_of_a_lost_worker_twice)


LOADS = """
import sys
from lab.core.process import run
from lab.data.loaders import book_images, loader
from lab.machine.fresh_process import call_in_subprocess

def load():
    return [len(X) for X, y in loader(book_images(), 60, 2)]

def main():
    print(call_in_subprocess("a loader", load))

if __name__ == "__main__":
    sys.exit(run(main))
"""


@pytest.fixture
def loading(project):
    """Return a command that loads images with a fresh process's workers, and its environment."""
    write_data(project / "data", train=120, test=10)
    (project / "loading.py").write_text(LOADS)
    command = [sys.executable, "-m", "loading"]
    return command, os.environ | {"PYTHONPATH": f"{project}{os.pathsep}{ROOT}"}


@pytest.mark.slow
def test_a_temporary_folder_too_long_for_sockets_does_no_harm(project, loading):
    _, environment = loading
    folder = project / ("x" * 100)
    folder.mkdir()
    environment |= {"TMPDIR": str(folder)}
    result = forked.run("loading", env=environment)
    assert (result.returncode, result.stdout) == (0, "[60, 60]\n"), result.stderr


@pytest.mark.slow
@needs_namespaces
def test_full_shared_memory_is_reported(loading):
    """Here /dev/shm is too small for a batch."""
    command, environment = loading
    small = "mount -t tmpfs -o size=200k none /dev/shm"
    result = subprocess.run(
        in_namespaces(small, *command), capture_output=True, text=True, env=environment, check=False
    )
    assert result.returncode == 8
    *_, line = result.stderr.splitlines()
    assert line.startswith("ERROR: /dev/shm is full") and "--shm-size" in line


LAUNCHER = """
import sys, time
from lab.core.process import run
from lab.machine.fresh_process import call_in_subprocess

def main():
    print("ready", flush=True)
    call_in_subprocess("one that sleeps", time.sleep, 600)

sys.exit({call})
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="there processes are not forked")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("call", ["main()", "run(main)"])  # with a server started, or forked
def test_neither_process_nor_server_outlives_a_killed_launcher(number, call):
    program = LAUNCHER.format(call=call)
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE
    ) as launcher:
        launcher.stdout.readline()
        while len(below := psutil.Process(launcher.pid).children(recursive=True)) < 3:
            assert launcher.poll() is None
            time.sleep(0.02)  # the server, its process, and multiprocessing's resource tracker
        launcher.send_signal(number)
    assert not outlived(below)
