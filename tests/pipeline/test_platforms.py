"""All modules import, and a task runs, without what Python lacks on other systems."""

import os

import pytest

from tests import forked
from tests.helpers import ROOT, errors

LACKS = {
    "macOS": {"time": ["CLOCK_BOOTTIME"], "os": ["sched_getaffinity"]},
    "Windows": {
        "time": ["CLOCK_BOOTTIME", "CLOCK_MONOTONIC", "clock_gettime"],
        "signal": ["SIGHUP", "SIGALRM", "SIGKILL", "alarm", "pthread_sigmask"],
        "os": ["sched_getaffinity", "fork", "getuid", "getpgrp", "tcgetpgrp", "killpg", "waitid"],
    },
}
WITHOUT = """
import importlib, os, pkgutil, runpy, signal, sys, time
import invoke.main, torch.distributed.elastic.timer  # which know what each system has
for module, names in {lacks}.items():
    for name in names:
        delattr(sys.modules[module], name)
"""
IMPORTS = """
import lab, stages, tasks
for package in (lab, stages):
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not found.name.endswith(("__main__", "lightning_loop", "do_this")):
            importlib.import_module(found.name)
from lab.timing.snapshot import between, read
assert between(read(), read()) == []
"""
A_TASK = """
sys.argv = ["invoke", "profile", "no-such-profile"]
runpy.run_module("invoke", run_name="__main__")
"""


@pytest.mark.slow
@pytest.mark.parametrize("system", LACKS)
def test_imports_snapshots_and_tasks_work_without_what_a_system_lacks(system, tmp_path):
    program = WITHOUT.format(lacks=LACKS[system]) + IMPORTS + A_TASK
    (tmp_path / "elsewhere.py").write_text(program)
    there = {"PYTHONPATH": str(tmp_path), "USERNAME": "someone"}  # Windows always sets it
    ended = forked.run("elsewhere", cwd=ROOT, env=os.environ | there)
    assert ended.returncode == 2, ended.stderr
    assert "no-such-profile" in errors(ended)[0]
