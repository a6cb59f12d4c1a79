"""A GPU that fails or is lost: one line that says so, with the exit code of hardware."""

from collections.abc import Iterator
from contextlib import contextmanager

from lab.core.errors import MachineError


@contextmanager
def gpu_errors(where: str = "a GPU") -> Iterator[None]:
    """Turn what torch raises when a GPU fails into an error; `where` says on which.

    Memory that is out is none of these, and torch's own words stand for all others.

    Raises:
        MachineError: a GPU failed, was lost, or its driver is another than torch was built for.
    """
    try:
        yield
    except RuntimeError as error:
        first = str(error).partition("\n")[0]
        if not first.startswith(("CUDA error", "CUDA driver")) or "out of memory" in first:
            raise
        raise MachineError(
            f"{where}: {first}; `nvidia-smi` and `dmesg` tell more, the same command goes on"
        ) from None
