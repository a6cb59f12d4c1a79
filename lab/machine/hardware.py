"""Stable facts about this machine on which measurements depend.

They contain no host name, load, clock rate, free memory or path. So two probes of one machine give
the same bytes, and a second `dvc repro` measures nothing again.
"""

import os
import platform
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil

from lab.core.errors import MachineError
from lab.core.files import CONDITIONS, MEASURED_ON, read_json, write_json
from lab.machine.limits import NO_QUOTA, quota_cores, usable_cores
from lab.machine.torch_build import build, cpu_model, instructions, may_have_gpus

GIB = 2**30
OLDER = date(2026, 1, 1)  # than any result: a clock that shows an earlier date is wrong


def facts() -> dict[str, dict[str, Any]]:
    """Return the facts in three groups; without a GPU, its keys are None.

    Raises:
        MachineError: there are GPUs that torch cannot use, or the clock is wrong by months.
    """
    if (today := date.today()) < OLDER:
        raise MachineError(f"the clock says {today}, and results are dated by it; set it")
    return {"accelerator": _accelerator(), "cpu": _cpu(), "software": _software()}


def add_machine(folder: Path) -> None:
    """Add the machine's facts and today's date to the conditions.json in a folder of results."""
    path = folder / CONDITIONS
    today = {MEASURED_ON: date.today().isoformat()}
    write_json(path, read_json(path) | today | {"machine": facts()})


def _cpu() -> dict[str, Any]:
    quota = quota_cores()
    return {
        "instructions": instructions(),
        "model": cpu_model(),
        "omp_num_threads": os.environ.get("OMP_NUM_THREADS"),
        "quota_cores": round(quota, 2) if quota < NO_QUOTA else None,
        "ram_gib": round(psutil.virtual_memory().total / GIB),
        "usable_cores": usable_cores(),
    }


def _accelerator() -> dict[str, Any]:
    if not may_have_gpus():
        return {"count": 0, "cuda": None, "memory_gib": None, "names": None}
    import torch

    from lab.machine.gpus.check_driver import check_driver

    check_driver()
    count = torch.cuda.device_count()
    properties = [torch.cuda.get_device_properties(i) for i in range(count)]
    return {
        "count": count,
        "cuda": torch.version.cuda if count else None,
        "memory_gib": [round(p.total_memory / GIB) for p in properties] or None,
        "names": [p.name for p in properties] or None,
    }


def _software() -> dict[str, Any]:
    return {
        "os": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "torch": build()["__version__"],
        # from metadata: importing it takes as long as all other facts together
        "torchvision": version("torchvision"),
    }
