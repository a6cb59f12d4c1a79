"""The simulation, built once for all workers; what runs within it is collected there alone."""

import os
import shutil
from pathlib import Path

import pytest
from filelock import FileLock

collect_ignore = [] if os.environ.get("SIMULATED_GPUS") else ["inside"]


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of all workers of this run."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if os.environ.get("PYTEST_XDIST_WORKER") else own


@pytest.fixture(scope="session")
def built(shared_folder: Path) -> Path:
    """The folder of the simulation's libraries."""
    from tests.simulated_gpus import simulation

    if shutil.which(simulation.COMPILER) is None:
        pytest.skip(f"needs a C++ compiler: {simulation.COMPILER} is not on PATH")
    folder = shared_folder / "simulation"
    with FileLock(f"{folder}.lock"):
        if not folder.is_dir():
            folder.mkdir()
            simulation.build(folder)
    return folder
