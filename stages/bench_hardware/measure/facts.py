"""What a machine has of cores and memory, by its own word: facts that do not vary."""

from pathlib import Path

import psutil
import torch

from lab.machine.devices import Devices, usable_cores
from lab.machine.hardware import GIB
from lab.results.measurements import Measurement, skip
from stages.bench_hardware.measure.names import (
    CACHE_LINE,
    CORES,
    FACTS,
    GPU_MEMORY,
    MEMORY,
    MULTIPROCESSORS,
)

# of the first processor's first data cache, in bytes
LINE_FILE = Path("/sys/devices/system/cpu/cpu0/cache/index0/coherency_line_size")


def measure_facts(target: Devices) -> list[Measurement]:
    """Cores, memory in GiB and bytes of a cache line, the processor's and the GPU's."""
    found = [
        _fact(CORES, usable_cores(), "cores"),
        _fact(MEMORY, psutil.virtual_memory().total / GIB, "GiB"),
    ]
    if LINE_FILE.is_file():
        found.append(_fact(CACHE_LINE, int(LINE_FILE.read_text(encoding="ascii")), "bytes"))
    else:
        found.append(skip(FACTS, CACHE_LINE, "the system does not tell it", "cpu"))
    if target.devices[0].type != "cuda":
        return found + [
            skip(FACTS, arm, "needs a CUDA GPU", "cpu") for arm in (MULTIPROCESSORS, GPU_MEMORY)
        ]
    gpu = torch.cuda.get_device_properties(target.devices[0])
    return [
        *found,
        Measurement(FACTS, MULTIPROCESSORS, 0, (gpu.multi_processor_count,), "cores", target.kind),
        Measurement(FACTS, GPU_MEMORY, 0, (gpu.total_memory / GIB,), "GiB", target.kind),
    ]


def _fact(arm: str, value: float, unit: str) -> Measurement:
    return Measurement(FACTS, arm, 0, (value,), unit, "cpu")
