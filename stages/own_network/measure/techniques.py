"""The techniques: each is a function whose body is the lines that a reader adds to a script.

They stand before its loop, whose step calls `loss_of(inputs, targets)`. A function's parameters are
what the lines need of the script; what it returns takes the place of the first of them.
"""

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.optim import Optimizer
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, TensorDataset

from lab.machine.devices import computes_in_bf16, missing_for_compile
from lab.machine.limits import memory_bytes, usable_cores
from lab.results.reasons import (
    ALREADY,
    NEEDS,
    NEEDS_BF16,
    NEEDS_CONVOLUTION,
    NEEDS_CORES,
    NEEDS_FUSED,
    NEEDS_GPU,
    NEEDS_GPUS,
    NEEDS_LOADER,
    NEEDS_PROCESSOR,
    NEEDS_ROOM,
    NEEDS_SAME_DATA,
    Reason,
)
from stages.own_network.measure import names

LossOf = Callable[[Any, Any], Tensor]  # of inputs and targets
ROOM = 0.5  # of the memory, at most, for data that stay in it


def channels_last(net: nn.Module) -> None:
    net.to(memory_format=torch.channels_last)  # type: ignore[call-overload]


def bfloat16(loss_of: LossOf, device: torch.device) -> LossOf:
    return torch.autocast(device.type, torch.bfloat16)(loss_of)  # type: ignore[no-any-return]


def tensorfloat_32() -> None:
    torch.set_float32_matmul_precision("high")


def torch_compile(net: nn.Module) -> nn.Module:
    return torch.compile(net, fullgraph=True)  # type: ignore[return-value]


def cuda_graph(net: nn.Module) -> nn.Module:
    return torch.compile(net, fullgraph=True, mode="reduce-overhead")  # type: ignore[return-value]


def fused_optimizer(optimizer: Optimizer) -> None:
    for group in optimizer.param_groups:
        group["fused"] = True


def freed_memory_reused() -> None:
    libc = ctypes.CDLL(None)
    libc.mallopt(-1, 2**31 - 1)  # M_TRIM_THRESHOLD
    libc.mallopt(-3, 2**25)  # M_MMAP_THRESHOLD


def one_thread() -> None:
    torch.set_num_threads(1)


def loader_workers(loader: DataLoader[Any]) -> None:
    loader.num_workers, loader.prefetch_factor = 4, 2


def pinned_memory(loader: DataLoader[Any]) -> None:
    loader.pin_memory = True  # and .to(device, non_blocking=True)


def data_in_memory(
    loader: DataLoader[Any], batch_size: int, device: torch.device
) -> DataLoader[Any]:
    data = TensorDataset(*(torch.cat(parts).to(device) for parts in zip(*loader, strict=True)))
    rows = BatchSampler(RandomSampler(data), batch_size, drop_last=False)
    return DataLoader(data, sampler=rows, batch_size=None)


def two_devices(net: nn.Module, device: torch.device) -> nn.Module:
    return DistributedDataParallel(net, device_ids=[device])  # in two processes of torchrun


# --- where they cannot be tried, and why ---


def lacks_convolution(net: nn.Module) -> Reason | None:
    found = any(isinstance(layer, nn.Conv2d) for layer in net.modules())
    return None if found else Reason(NEEDS_CONVOLUTION)


def lacks_bf16(device: torch.device) -> Reason | None:
    return None if computes_in_bf16(device) else Reason(NEEDS_BF16)


def lacks_gpu(device: torch.device) -> Reason | None:
    return None if device.type == "cuda" else Reason(NEEDS_GPU)


def lacks_compiler() -> Reason | None:
    missing = missing_for_compile()
    return Reason(NEEDS, missing) if missing else None


def lacks_gpu_or_compiler(device: torch.device) -> Reason | None:
    return lacks_gpu(device) or lacks_compiler()


def lacks_fused(optimizer: Optimizer) -> Reason | None:
    if optimizer.defaults.get("fused"):
        return Reason(ALREADY)
    return None if "fused" in optimizer.defaults else Reason(NEEDS_FUSED)


def lacks_malloc(device: torch.device) -> Reason | None:
    there = device.type == "cpu" and hasattr(ctypes.CDLL(None), "mallopt")
    return None if there else Reason(NEEDS_PROCESSOR)


def lacks_cores(device: torch.device) -> Reason | None:
    if device.type != "cpu":
        return Reason(NEEDS_PROCESSOR)
    return None if usable_cores() > 1 else Reason(NEEDS_CORES, "2")


def lacks_loader(loader: Any) -> Reason | None:
    if not isinstance(loader, DataLoader):
        return Reason(NEEDS_LOADER)
    return Reason(ALREADY) if loader.num_workers else None


def lacks_pinned(loader: Any, device: torch.device) -> Reason | None:
    if not isinstance(loader, DataLoader):
        return Reason(NEEDS_LOADER)
    return Reason(ALREADY) if loader.pin_memory else lacks_gpu(device)


def lacks_room(loader: Any, device: torch.device) -> Reason | None:
    """Return the reason if the data do not fit, are not tensors, or are drawn again each time."""
    if not isinstance(loader, DataLoader):
        return Reason(NEEDS_LOADER)
    batch, samples = next(iter(loader)), [loader.dataset[0] for _ in range(2)]
    if not all(isinstance(part, Tensor) for part in batch):
        return Reason(NEEDS_LOADER)
    if not all(map(torch.equal, *(map(torch.as_tensor, each) for each in samples))):
        return Reason(NEEDS_SAME_DATA)
    on_gpu = device.type == "cuda"
    room = torch.cuda.mem_get_info(device)[0] if on_gpu else memory_bytes()
    wanted = len(loader) * sum(part.nbytes for part in batch)
    return None if wanted < ROOM * room else Reason(NEEDS_ROOM, f"{wanted / 2**30:.3g}")


def lacks_gpus() -> Reason | None:
    return None if torch.cuda.device_count() > 1 else Reason(NEEDS_GPUS, "2")


@dataclass(frozen=True)
class Technique:
    """A technique: `apply` adds its lines to a script, `lacks` returns why it cannot be tried."""

    apply: Callable[..., Any]
    lacks: Callable[..., Reason | None]


TECHNIQUES = {
    names.CHANNELS_LAST: Technique(channels_last, lacks_convolution),
    names.BF16: Technique(bfloat16, lacks_bf16),
    names.TF32: Technique(tensorfloat_32, lacks_gpu),
    names.COMPILE: Technique(torch_compile, lacks_compiler),
    names.GRAPH: Technique(cuda_graph, lacks_gpu_or_compiler),
    names.FUSED: Technique(fused_optimizer, lacks_fused),
    names.MEMORY: Technique(freed_memory_reused, lacks_malloc),
    names.ONE_THREAD: Technique(one_thread, lacks_cores),
    names.WORKERS: Technique(loader_workers, lacks_loader),
    names.PINNED: Technique(pinned_memory, lacks_pinned),
    names.IN_MEMORY: Technique(data_in_memory, lacks_room),
    names.TWO_DEVICES: Technique(two_devices, lacks_gpus),
}
