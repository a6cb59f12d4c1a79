"""Run `python -m MODULE` in a process that has torch already: forked, not started.

Importing torch takes two seconds, and tests start hundreds of stages and tools. multiprocessing's
fork server imports it once for each worker of the tests; processes that a stage starts by itself
come from the same server.
"""

import multiprocessing
import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.preloaded"])


def run(
    module: str,
    *arguments: str,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = 120,
) -> subprocess.CompletedProcess[str]:
    """What `python -m module arguments` ends with and prints, run in a folder with an environment.

    Raises:
        subprocess.TimeoutExpired: it was killed after `timeout` seconds.
    """
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder) / "out", Path(folder) / "err"
        words = [module, *arguments]
        where = str(cwd or Path.cwd())
        process = _CONTEXT.Process(
            target=_be, args=(words, where, dict(os.environ if env is None else env), out, err)
        )
        process.start()
        process.join(timeout)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(words, timeout)
        return subprocess.CompletedProcess(
            words, process.exitcode, out.read_text(), err.read_text()
        )


def _be(words: list[str], cwd: str, env: dict[str, str], out: Path, err: Path) -> None:
    for number, path in ((1, out), (2, err)):
        os.dup2(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600), number)
    multiprocessing.set_start_method(None, force=True)  # as in a process that nobody forked
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    sys.path[:0] = [cwd, *env.get("PYTHONPATH", "").split(os.pathsep)]
    sys.argv = words
    runpy.run_module(words[0], run_name="__main__", alter_sys=True)
