"""What GPUs are doing at a moment, and what torch computes with on them.

These change while the machine stays the same, so they are no facts of reports/hardware.json.
"""

import torch

from lab.machine.gpus.driver import NoAnswerError, query

# as nvidia-smi names them; the units are MHz, W, °C, % and MiB
FIELDS = (
    *("name", "driver_version", "pstate", "compute_mode", "persistence_mode"),
    *("clocks.sm", "clocks.max.sm", "clocks.mem", "clocks.max.mem"),
    *("power.draw", "power.limit", "temperature.gpu"),
    *("utilization.gpu", "memory.used", "memory.total"),
)

Value = float | str | None


def gpu_state() -> list[dict[str, Value]] | None:
    """The state of each GPU that this process may use; None where nobody can tell.

    Before a record uses them, and when it has, the load and the memory in use are others'.
    """
    try:
        rows = query(*FIELDS)
    except NoAnswerError:
        return None
    return [dict(zip(FIELDS, map(_value, row), strict=True)) for row in rows]


def _value(cell: str) -> Value:
    """A number, a word, or None for what a GPU does not have: `[N/A]`."""
    try:
        return float(cell)
    except ValueError:
        return None if cell.startswith("[") else cell


def library_versions() -> dict[str, str | None]:
    """The versions of the libraries of a torch that was built for GPUs; None for those it lacks."""
    cudnn = torch.backends.cudnn.version() if torch.version.cuda else None
    nccl = torch.cuda.nccl.version() if torch.distributed.is_nccl_available() else None
    return {
        "cuda": torch.version.cuda,
        "cudnn": None if cudnn is None else str(cudnn),
        "nccl": None if nccl is None else ".".join(map(str, nccl)),
    }
