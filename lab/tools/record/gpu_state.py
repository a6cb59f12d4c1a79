"""The current state of the GPUs, and the versions of torch's GPU libraries.

Both change while the machine stays the same, so they are not facts of reports/hardware.json.
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
    """Return the state of each GPU that this process may use; None if the driver does not answer.

    Before and after a record, the load and the memory in use are other processes'.
    """
    try:
        rows = query(*FIELDS)
    except NoAnswerError:
        return None
    return [dict(zip(FIELDS, map(_value, row), strict=True)) for row in rows]


def _value(cell: str) -> Value:
    """Return a number, a word, or None for what a GPU does not have: `[N/A]`."""
    try:
        return float(cell)
    except ValueError:
        return None if cell.startswith("[") else cell


def library_versions() -> dict[str, str | None]:
    """Return the versions of torch's GPU libraries; None for each that this build lacks."""
    cudnn = torch.backends.cudnn.version() if torch.version.cuda else None
    nccl = torch.cuda.nccl.version() if torch.distributed.is_nccl_available() else None
    return {
        "cuda": torch.version.cuda,
        "cudnn": None if cudnn is None else str(cudnn),
        "nccl": None if nccl is None else ".".join(map(str, nccl)),
    }
