"""Settings and fixtures of all tests."""

import gc
import os
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Generator, Iterator
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import settings

from tests import forked
from tests.helpers import ROOT, committed_params

# In all processes that tests start, waiting threads sleep: else they spin on another test's core.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
# Handle Ctrl-C and a closed terminal even under `&` and `nohup`, which make a command ignore them.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# All processes share one list of fonts, or each project would make its own.
os.environ.setdefault("MPLCONFIGDIR", str(ROOT / ".lab" / "matplotlib"))

# The same examples on every run, so that failures repeat, and no time limit: shared machines are
# slow at times.
settings.register_profile("lab", derandomize=True, deadline=None, max_examples=25)
settings.load_profile("lab")

_cpu_s = forked.cpu_seconds()  # when the last phase of a test ended


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with the committed params and profiles, as the working directory."""
    (tmp_path / "params.yaml").write_text(committed_params())
    shutil.copytree(ROOT / "profiles", tmp_path / "profiles")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LAB_DATA_MIRROR", raising=False)
    return tmp_path


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Make torch use one thread, as on a virtual device: small nets gain nothing from more."""
    if (torch := sys.modules.get("torch")) is None:  # the test needs no torch
        yield
        return
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note the CPU seconds of each phase of a test."""
    global _cpu_s
    report = yield
    before, _cpu_s = _cpu_s, forked.cpu_seconds()
    report.user_properties.append(("cpu_s", _cpu_s - before))
    return report


def pytest_collection_finish() -> None:
    """Exempt imported objects from garbage collection, which would delay each sample."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how many tests were skipped for each reason, and each folder's CPU seconds."""
    skipped = Counter(report.longrepr[2] for report in terminalreporter.stats.get("skipped", []))
    for reason, count in skipped.most_common():
        terminalreporter.write_line(f"{count} x {reason}")
    cpu_s: Counter[str] = Counter()
    for report in chain(*terminalreporter.stats.values()):
        if isinstance(report, pytest.TestReport):
            folder = "/".join(Path(report.nodeid.partition("::")[0]).parent.parts[:3])
            cpu_s[folder] += report.user_properties[-1][1]
    told = ", ".join(f"{folder} {seconds:.0f}" for folder, seconds in cpu_s.most_common())
    terminalreporter.write_line(f"CPU seconds: {told}; in all {cpu_s.total():.0f}")
