"""The simulation, built once for all workers; `inside` is collected only within it."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

collect_ignore = [] if os.environ.get("SIMULATED_GPUS") else ["inside"]


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all workers of this run share."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if os.environ.get("PYTEST_XDIST_WORKER") else own


@pytest.fixture(scope="session")
def built(shared_folder: Path) -> Path:
    """The folder of the simulation's libraries."""
    from tests.simulated_gpus import simulation

    if missing := simulation.missing():
        pytest.skip(f"needs {missing}")
    folder = shared_folder / "simulation"
    with FileLock(f"{folder}.lock"):
        if not folder.is_dir():
            folder.mkdir()
            simulation.build(folder)
    return folder


@pytest.fixture(scope="session")
def folder_of(shared_folder: Path) -> Callable[[int], Path]:
    """folder_of(gpus): where all tests run stages on a machine with that many GPUs."""
    from tests.simulated_gpus.machines import prepare

    def folder(gpus: int) -> Path:
        work = shared_folder / f"{gpus}-gpus"
        with FileLock(f"{work}.lock"):
            if not work.is_dir():
                prepare(work, gpus)
        return work

    return folder


@pytest.fixture(scope="session")
def measured(built: Path, folder_of: Callable[[int], Path]) -> Callable[[str, int], list[Any]]:
    """measured(words, gpus): the notes of `python -m stages.WORDS`, which runs only once."""
    from tests.simulated_gpus.machines import RECORDS
    from tests.simulated_gpus.simulation import Machine, read_notes

    def run(words: str, gpus: int) -> list[Any]:
        if words == "together":
            for record in RECORDS:
                run(f"train {record}", gpus)
        work = folder_of(gpus)
        notes, done = work / "notes" / words, work / f"{words}.done"
        with FileLock(f"{work}-{words}.lock"):
            if not done.is_file():
                shutil.rmtree(notes, ignore_errors=True)
                stage = f"stages.{words}".split()
                ended, _ = Machine(built, gpus).run(work, notes, *stage)
                assert ended.returncode == 0, ended.stderr[-3000:]
                assert "Traceback" not in ended.stderr, ended.stderr[-3000:]
                done.touch()
        return read_notes(notes)

    return run
