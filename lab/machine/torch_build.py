"""Facts that torch knows of this machine, without the two seconds that importing torch takes.

The probe runs at each `dvc repro`. It imports torch only for what nothing else knows, such as GPUs.
"""

import ctypes
import functools
import importlib.util
import os
import platform
import runpy
import sys
from pathlib import Path
from typing import Any

GPU_LIBRARIES = ("libcuda.so.1", "libnvidia-ml.so.1")  # NVIDIA's, by which torch counts GPUs
AVX512 = {"avx512vl", "avx512bw", "avx512dq", "fma"}  # what ATen needs, by the kernel's names
AVX2 = {"avx2", "fma"}
# variables that limit the instructions of libraries: oneDNN, MKL, and TF32 in cuBLAS
LIMITS = (
    *("ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA", "MKL_ENABLE_INSTRUCTIONS", "MKL_CBWR"),
    "NVIDIA_TF32_OVERRIDE",
)
CPUINFO = Path("/proc/cpuinfo")


@functools.cache
def build() -> dict[str, Any]:
    """Return torch/version.py: `__version__`, and `cuda` or `hip` of a build for GPUs."""
    found = importlib.util.find_spec("torch")
    assert found is not None and found.origin is not None  # noqa: S101
    return runpy.run_path(str(Path(found.origin).with_name("version.py")))


def may_have_gpus() -> bool:
    """Return whether torch may find GPUs: it is built for them, and there is a driver."""
    if build().get("hip") or sys.platform != "linux":
        return True
    return build()["cuda"] is not None and any(map(_loads, GPU_LIBRARIES))


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def cpu_capability() -> str:
    """Return the instructions of torch's kernels, as `torch.backends.cpu.get_cpu_capability` does.

    The rule is ATen's for x86 (compute_cpu_capability in DispatchStub.cpp).
    """
    flags = cpu_flags()
    if platform.machine() != "x86_64" or not flags:
        import torch

        return torch.backends.cpu.get_cpu_capability()
    asked = os.environ.get("ATEN_CPU_CAPABILITY")
    if asked in ("default", "avx2", "avx512"):
        return asked.upper()
    return "AVX512" if flags >= AVX512 else "AVX2" if flags >= AVX2 else "DEFAULT"


def instructions() -> str:
    """Return the instructions of torch's kernels, and the variables that limit its libraries."""
    limits = [f"{name}={os.environ[name]}" for name in LIMITS if name in os.environ]
    return ", ".join([cpu_capability(), *limits])


def cpu_flags() -> set[str]:
    """Return the first processor's flags by the kernel; empty if it does not list them."""
    for line in _cpuinfo():
        if line.startswith("flags"):
            return set(line.partition(":")[2].split())
    return set()


def cpu_model() -> str:
    """Return the processor's model name if the system has it (Linux), else what Python knows."""
    for line in _cpuinfo():
        if line.startswith("model name"):
            return " ".join(line.partition(":")[2].split())
    return platform.processor() or platform.machine()


def _cpuinfo() -> list[str]:
    if not CPUINFO.is_file():
        return []
    return CPUINFO.read_text(encoding="utf-8", errors="replace").splitlines()
