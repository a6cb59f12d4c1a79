"""The devices of a run: CUDA GPUs where there are enough, virtual devices otherwise.

The notes' `try_gpu` falls back to the CPU silently, so that a result of "two GPUs" may be a CPU's.
Here each result carries its `device_kind`.
"""

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch

from lab.core.shared_params import DeviceParams, Precision, RunPrecision
from lab.machine.gpus.check_driver import check_driver
from lab.machine.limits import usable_cores
from lab.machine.torch_build import cpu_flags

COMPILE_SWITCHES = ("TORCHDYNAMO_DISABLE", "TORCH_COMPILE_DISABLE")  # 1 turns torch.compile off

# `cpu`: the processor in its own right, not in place of a GPU
DeviceKind = Literal["cuda", "cuda-shared", "cpu-virtual", "cpu"]


@dataclass(frozen=True)
class Devices:
    """What a run computes on; one device is a list of one. `threads`: of one virtual device."""

    kind: DeviceKind
    devices: list[torch.device]
    threads: int


def threads_per_device(num_devices: int, cpu_threads: int | Literal["auto"], cores: int) -> int:
    """The threads of one virtual device.

    `auto` gives a single device as many as each of two would get, so that one and two devices
    compare like with like.
    """
    return max(1, cores // max(2, num_devices)) if cpu_threads == "auto" else cpu_threads


def allow_tf32(precision: Precision) -> None:
    """Let this process's GPUs round what they multiply to TensorFloat-32, or forbid it.

    `default` is torch's own: convolutions do so, another arithmetic under float32's name.
    """
    torch.backends.cudnn.allow_tf32 = precision in ("tf32", "default")
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"


def resolve(num_gpus: int, params: DeviceParams) -> Devices:
    """The `num_gpus` devices of a run; gives torch their number of threads, and float32 as it is.

    With enough GPUs, one each; with too few, replicas share them; with none, virtual devices on the
    CPU. What is to compute in TensorFloat-32 says so (`allow_tf32`).

    Raises:
        MachineError: there are GPUs, with a driver that torch cannot use.
    """
    check_driver()
    allow_tf32("fp32")
    threads = threads_per_device(num_gpus, params.cpu_threads, usable_cores())
    torch.set_num_threads(threads)
    found = torch.cuda.device_count()
    if found == 0:
        return Devices("cpu-virtual", [torch.device("cpu")] * num_gpus, threads)
    devices = [torch.device("cuda", i % found) for i in range(num_gpus)]
    return Devices("cuda" if found >= num_gpus else "cuda-shared", devices, threads)


def for_ranks(world_sizes: Sequence[int], params: DeviceParams) -> Devices:
    """A device for each rank: GPUs if there are enough for the fewest ranks, else virtual ones.

    Raises:
        MachineError: as `resolve` does.
    """
    check_driver()
    gpus, most = torch.cuda.device_count(), max(world_sizes)
    if gpus >= min(world_sizes):
        return resolve(min(most, gpus), params)
    threads = threads_per_device(most, params.cpu_threads, usable_cores())
    torch.set_num_threads(threads)
    return Devices("cpu-virtual", [torch.device("cpu")] * most, threads)


def precision_on(device: torch.device, asked: RunPrecision) -> Precision:
    """The precision that a run is to have on a device."""
    if asked != "bf16_if_fast":
        return asked
    return "bf16" if computes_in_bf16(device) else "fp32"


def computes_in_bf16(device: torch.device) -> bool:
    """Whether a device has instructions for bfloat16; without them it is slower than float32."""
    if device.type == "cuda":
        return torch.cuda.get_device_capability(device) >= (8, 0)
    return not {"avx512_bf16", "amx_bf16"}.isdisjoint(cpu_flags())


def missing_compiler() -> str:
    """What inductor lacks here, or nothing: its kernels for the processor are C++."""
    compiler = os.environ.get("CXX", "clang++" if sys.platform == "darwin" else "g++")
    return "" if shutil.which(compiler) else f"a C++ compiler ({compiler} is not on PATH)"


def missing_for_compile() -> str:
    """What torch.compile lacks here, or nothing: turned off, it runs eager without a word."""
    off = next((name for name in COMPILE_SWITCHES if os.environ.get(name) == "1"), "")
    return f"torch.compile, which {off}=1 turns off" if off else missing_compiler()


def one_device(params: DeviceParams) -> Devices:
    """One GPU, or the processor with all cores, unless params say how many."""
    if torch.cuda.is_available():
        return resolve(1, params)
    return processor(usable_cores() if params.cpu_threads == "auto" else params.cpu_threads)


def processor(threads: int) -> Devices:
    """The processor in its own right, GPUs or not; gives torch this number of threads."""
    torch.set_num_threads(threads)
    return Devices("cpu", [torch.device("cpu")], threads)
