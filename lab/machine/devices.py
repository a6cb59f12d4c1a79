"""The devices of a run: CUDA GPUs if there are enough, virtual devices otherwise.

The notes' `try_gpu` silently falls back to the CPU, so a result of "two GPUs" may be a CPU's. Here
each result carries its `device_kind`.
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

# `cpu`: the CPU as itself, not in place of a GPU
DeviceKind = Literal["cuda", "cuda-shared", "cpu-virtual", "cpu"]


@dataclass(frozen=True)
class Devices:
    """A run's devices, a list even if there is only one; `threads` are one virtual device's."""

    kind: DeviceKind
    devices: list[torch.device]
    threads: int


def threads_per_device(num_devices: int, cpu_threads: int | Literal["auto"], cores: int) -> int:
    """Return the number of threads of one virtual device.

    `auto` gives a single device as many threads as each of two would get, so that runs on one and
    on two devices are comparable.
    """
    return max(1, cores // max(2, num_devices)) if cpu_threads == "auto" else cpu_threads


def allow_tf32(precision: Precision) -> None:
    """Allow or forbid TensorFloat-32 multiplications on this process's GPUs.

    `default` is torch's own setting: convolutions use it, although their type is float32.
    """
    torch.backends.cudnn.allow_tf32 = precision in ("tf32", "default")
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"


def resolve(num_gpus: int, params: DeviceParams) -> Devices:
    """Return a run's `num_gpus` devices; set torch's threads, and turn TensorFloat-32 off.

    With enough GPUs, each replica has one. With too few, replicas share them. With none, they use
    virtual devices on the CPU. `allow_tf32` turns TensorFloat-32 on again.

    Raises:
        MachineError: there are GPUs, but torch cannot use their driver.
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
    """Return a device per rank: GPUs if they suffice for the fewest ranks, else virtual devices.

    Raises:
        MachineError: as in `resolve`.
    """
    check_driver()
    gpus, most = torch.cuda.device_count(), max(world_sizes)
    if gpus >= min(world_sizes):
        return resolve(min(most, gpus), params)
    threads = threads_per_device(most, params.cpu_threads, usable_cores())
    torch.set_num_threads(threads)
    return Devices("cpu-virtual", [torch.device("cpu")] * most, threads)


def precision_on(device: torch.device, asked: RunPrecision) -> Precision:
    if asked != "bf16_if_fast":
        return asked
    return "bf16" if computes_in_bf16(device) else "fp32"


def computes_in_bf16(device: torch.device) -> bool:
    """Return whether a device has bfloat16 instructions; without, bf16 is slower than float32."""
    if device.type == "cuda":
        return torch.cuda.get_device_capability(device) >= (8, 0)
    return not {"avx512_bf16", "amx_bf16"}.isdisjoint(cpu_flags())


def missing_compiler() -> str:
    """Return what inductor lacks here, or "": its CPU kernels are C++."""
    compiler = os.environ.get("CXX", "clang++" if sys.platform == "darwin" else "g++")
    return "" if shutil.which(compiler) else f"a C++ compiler ({compiler} is not on PATH)"


def missing_for_compile() -> str:
    """Return what torch.compile lacks here, or "": if turned off, it silently runs eager."""
    off = next((name for name in COMPILE_SWITCHES if os.environ.get(name) == "1"), "")
    return f"torch.compile, which {off}=1 turns off" if off else missing_compiler()


def one_device(params: DeviceParams) -> Devices:
    """Return one GPU, or the CPU with all cores, unless params give a number of threads."""
    if torch.cuda.is_available():
        return resolve(1, params)
    return processor(usable_cores() if params.cpu_threads == "auto" else params.cpu_threads)


def processor(threads: int) -> Devices:
    """Return the CPU as itself, GPUs or not; set torch's number of threads."""
    torch.set_num_threads(threads)
    return Devices("cpu", [torch.device("cpu")], threads)
