"""What other systems' Pythons lack, taken from this one: all imports, and a first task does."""

import os
import subprocess
import sys

import pytest

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


def without(system: str, program: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", WITHOUT.format(lacks=LACKS[system]) + program]
    environment = os.environ | {"USERNAME": "someone"}  # which Windows always has
    return subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.parametrize("system", LACKS)
def test_everything_imports_and_a_machine_is_looked_at(system):
    ended = without(system, IMPORTS)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize("system", LACKS)
def test_a_task_runs_its_command_and_passes_its_error_on(system):
    ended = without(system, A_TASK)
    assert ended.returncode == 2
    assert "no-such-profile" in errors(ended)[0]
