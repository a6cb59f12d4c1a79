"""The process group of a run: its ranks, their rendezvous, and a check that they train the same.

Ranks of one host are forked (lab/parallel/local_ranks.py). On several hosts, torchrun starts them,
as docs/gpus.md shows. Either way, a rank finds its place and the store in its environment.
"""

import os
import socket
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

import torch
import torch.distributed as dist

from lab.core.errors import DistributedError
from lab.core.loopback import check_loopback, stay_on_loopback
from lab.core.process import RANK_MARK
from lab.core.shared_params import LOOPBACK
from lab.machine.devices import Devices

# The groups that this process was in, kept since the last owner of a group ends its threads. One of
# torch's models would do so while it holds the GIL, for which such a thread may wait.
_KEPT: list[dist.ProcessGroup | None] = []


class PeerLostError(DistributedError):
    """A collective failed because another rank is gone or silent: a symptom, rarely the cause."""


def own_rank() -> int | None:
    """Return the rank of this process if torchrun or the lab started it, else None.

    RANK and WORLD_SIZE are not enough evidence: clusters set them in every container.
    """
    return int(os.environ["RANK"]) if RANK_MARK in os.environ else None


def rendezvous_store(timeout_s: float) -> dist.TCPStore:
    """Return a store on a free port of the loopback address, for ranks of this host.

    It serves as long as a reference to it is kept.

    Raises:
        MachineError: the address cannot be reached.
    """
    check_loopback()
    listener = socket.create_server((LOOPBACK, 0))
    return dist.TCPStore(
        LOOPBACK,
        listener.getsockname()[1],
        is_master=True,
        wait_for_workers=False,
        master_listen_fd=listener.detach(),
        timeout=timedelta(seconds=timeout_s),
    )


def place(rank: int, world_size: int, threads: int, port: int) -> dict[str, str]:
    """Return the environment of a rank of this host, as torchrun would set it."""
    return {
        RANK_MARK: "forked",
        "RANK": str(rank),
        "WORLD_SIZE": str(world_size),
        "LOCAL_RANK": str(rank),
        "LOCAL_WORLD_SIZE": str(world_size),
        "OMP_NUM_THREADS": str(threads),
        "MASTER_ADDR": LOOPBACK,
        "MASTER_PORT": str(port),
        "TORCHELASTIC_USE_AGENT_STORE": "True",  # the launcher serves it, not rank 0
        "TORCHELASTIC_RESTART_COUNT": "0",
    }


@contextmanager
def process_group(devices: Devices, own: torch.device, timeout_s: float) -> Iterator[None]:
    """Join the ranks of this run, with this rank's device `own`, within the context.

    Collectives use NCCL between GPUs and gloo otherwise, as NCCL cannot share a GPU. Tensors on the
    CPU always go through gloo.

    Raises:
        PeerLostError: a collective failed, or took longer than `timeout_s`.
    """
    # one channel fits both memory formats
    warnings.filterwarnings("ignore", "Grad strides do not match")
    if os.environ["MASTER_ADDR"] in (LOOPBACK, "localhost"):
        stay_on_loopback()
    if own.type == "cuda":
        torch.cuda.set_device(own)
    try:
        dist.init_process_group(
            "cpu:gloo,cuda:nccl" if devices.kind == "cuda" else "gloo",
            timeout=timedelta(seconds=timeout_s),
        )
        _KEPT.append(dist.group.WORLD)
        yield
        dist.destroy_process_group()
    except RuntimeError as error:
        if isinstance(error, dist.DistError) or "gloo" in str(error):
            raise PeerLostError(
                f"rank {os.environ['RANK']} lost another one ({str(error).partition('. ')[0]})"
            ) from None
        raise


def all_reduce_max(mine: Sequence[float], group: dist.ProcessGroup | None = None) -> list[float]:
    """Return the elementwise maximum over all ranks; the ranks wait for each other."""
    values = torch.tensor(mine, dtype=torch.float64)
    dist.all_reduce(values, dist.ReduceOp.MAX, group)
    largest: list[float] = values.tolist()
    return largest


def check_ranks_agree(key: str) -> None:
    """Raise unless every rank would train the same run.

    Raises:
        DistributedError: code, data, params, torch or threads differ between hosts.
    """
    mine = torch.tensor(list(key.encode()), dtype=torch.uint8)
    keys = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
    dist.all_gather(keys, mine)
    differ = [rank for rank, other in enumerate(keys) if not torch.equal(other, keys[0])]
    if differ:
        raise DistributedError(
            f"rank(s) {differ} differ from rank 0 in code, data, params, torch, or threads"
            " (devices.cpu_threads); make the hosts equal"
        )
