"""The folder of a machine with simulated GPUs: small data, and the smallest params."""

import shutil
from pathlib import Path
from typing import Any

from lab.core.params import read_yaml
from lab.tools.profiles import merge
from tests.helpers import ROOT, edit_params, write_data

RECORDS = ("record_83", "record_90", "record_92")  # runs that `together` reads


def prepare(work: Path, gpus: int) -> None:
    """Make a folder with small data and the smallest params."""
    work.mkdir()
    write_data(work / "data", train=800, test=256)
    (work / "params.yaml").write_text(merge("smoke", ROOT / "profiles", ROOT / "params.yaml"))
    changes: dict[str, Any] = {"bench.rounds": 1, "scaling.world_sizes": sorted({2, gpus} - {1})}
    edit_params(changes, path=work / "params.yaml")
    shutil.copytree(ROOT / "profiles", work / "profiles")
    network = Path(read_yaml(work / "params.yaml")["own_network"]["file"])
    (work / network.parent).mkdir(parents=True)
    shutil.copy(ROOT / network, work / network)
