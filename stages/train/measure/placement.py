"""The devices of a run, and checks that this machine has what the run needs."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import torch

from lab.core.errors import DistributedError, MachineError, SpaceError
from lab.core.params import PARAMS_FILE
from lab.core.shared_params import DeviceParams, Precision
from lab.machine.devices import Devices, missing_for_compile, resolve
from lab.machine.limits import memory_bytes, usable_cores
from lab.nets.memory import least_step_bytes
from lab.nets.models import MODELS
from lab.training.run_params import RunParams


def devices_of(recipe: RunParams, params: DeviceParams) -> tuple[Devices, list[torch.device]]:
    """Return all devices of a run, and those of this process.

    Raises:
        DistributedError: the number of processes is not the run's `num_gpus`.
    """
    if recipe.strategy == "ddp":
        world_size, here = int(os.environ["WORLD_SIZE"]), int(os.environ["LOCAL_WORLD_SIZE"])
        if world_size != recipe.num_gpus:
            raise DistributedError(
                f"{world_size} processes for num_gpus {recipe.num_gpus}; start as many"
            )
        devices = resolve(here, as_told(params))
        own = [devices.devices[int(os.environ["LOCAL_RANK"])]]
        return replace(devices, devices=devices.devices * (world_size // here)), own
    if recipe.cpu_threads == "all":
        params = params.but(cpu_threads=usable_cores())
    devices = resolve(recipe.num_gpus, params)
    # splits a batch only over different GPUs
    if recipe.strategy == "dataparallel":
        different = list(dict.fromkeys(devices.devices))
        kind = "cuda" if devices.kind == "cuda-shared" else devices.kind
        devices = replace(devices, kind=kind, devices=different)
    return devices, devices.devices


def as_told(params: DeviceParams) -> DeviceParams:
    """Take a rank's threads from its launcher, which has already divided the cores."""
    told = os.environ.get("OMP_NUM_THREADS", "")
    if params.cpu_threads != "auto" or not told.isdecimal() or int(told) < 1:
        return params
    return params.but(cpu_threads=int(told))


def check_machine_can(name: str, recipe: RunParams, device: torch.device) -> None:
    """Stop before any work if this machine lacks something that the run needs.

    Raises:
        MachineError: TF32 without a CUDA GPU, or nothing to compile with.
    """
    key = f"{PARAMS_FILE}: train.runs.{name}"
    if recipe.precision == "tf32" and device.type != "cuda":
        raise MachineError(f"{key}.precision: tf32 needs a CUDA GPU, found none; take fp32 or bf16")
    if recipe.compile != "none" and (missing := missing_for_compile()):
        raise MachineError(
            f"{key}.compile: {recipe.compile} needs {missing}; provide it or take none"
        )


def check_step_fits(
    name: str, recipe: RunParams, precision: Precision, devices: Sequence[torch.device]
) -> None:
    """Stop before any work if a step cannot fit into the memory of this process's `devices`.

    A compiled step may need less, so we do not check it.

    Raises:
        SpaceError: the step needs more than a device has.
    """
    if recipe.compile != "none":
        return
    parts = recipe.num_gpus if recipe.shards == "none" else recipe.shards
    share = -(-recipe.batch_size // parts)
    least = least_step_bytes(MODELS[recipe.net](torch.Generator()), share, precision)
    for device, replicas in Counter(devices).items():
        needed, there = replicas * least / 2**30, _memory_bytes(device) / 2**30
        if needed > there:
            raise SpaceError(
                f"{PARAMS_FILE}: train.runs.{name}.batch_size: a step on {recipe.batch_size}"
                f" images needs {needed:.1f} GiB of {device}'s memory or more, which has"
                f" {there:.1f}; take fewer"
            )


def _memory_bytes(device: torch.device) -> int:
    if device.type == "cuda":
        return int(torch.cuda.get_device_properties(device).total_memory)
    return memory_bytes()
