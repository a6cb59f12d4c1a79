"""Fixtures: a folder that looks like the project."""

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import FrameType

import pytest
import torch
from hypothesis import settings

from tests import made_up
from tests.helpers import ROOT

# For every process that a test starts: threads that wait sleep, or they would spin on the core that
# another test has.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
# And Ctrl-C is heard, which a shell has processes in the background ignore.
signal.signal(signal.SIGINT, signal.default_int_handler)

# One list of fonts for all processes, which each project would make for itself.
os.environ.setdefault("MPLCONFIGDIR", str(ROOT / ".lab" / "matplotlib"))

# The same examples on every run, so that a red one repeats, and no time limit: shared machines are
# slow at times.
settings.register_profile("lab", derandomize=True, deadline=None)
settings.load_profile("lab")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with the committed params and profiles, as the working directory."""
    shutil.copy(ROOT / "profiles" / "laptop.yaml", tmp_path / "params.yaml")
    shutil.copytree(ROOT / "profiles", tmp_path / "profiles")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LAB_DATA_MIRROR", raising=False)
    return tmp_path


@pytest.fixture
def within() -> Callable[[int], AbstractContextManager[None]]:
    """What fails a test that takes so many seconds: a pipe that is read, say, waits for ever."""

    @contextmanager
    def limit(seconds: int) -> Iterator[None]:
        def fail(number: int, frame: FrameType | None) -> None:
            raise AssertionError(f"it took {seconds} s")

        before = signal.signal(signal.SIGALRM, fail)
        signal.alarm(seconds)
        try:
            yield
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)

    return limit


@pytest.fixture(scope="session")
def made_up_reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made-up results of all benchmarks in <kind of device>/<stage>/, cpu-virtual and cuda.

    Every test reads the same files: copy what you change.
    """
    reports = tmp_path_factory.mktemp("made_up_reports")
    for kind in ("cpu-virtual", "cuda"):
        for stage in made_up.BENCHES:
            made_up.write(stage, reports / kind, kind)
    return reports


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Torch computes with one thread, as a virtual device does: small nets gain nothing by more."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest test first, so that the other cores have something to do beside it."""
    items.sort(key=lambda item: item.get_closest_marker("e2e") is None)
