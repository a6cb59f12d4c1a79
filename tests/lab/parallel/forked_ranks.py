"""Real ranks for programs that tests start: forked, so that torch is imported once for all."""

import os
import socket
import traceback
from collections.abc import Callable

import torch
import torch.distributed as dist

from lab.core.shared_params import LOOPBACK, DistributedParams
from lab.machine.devices import Devices
from lab.parallel.launch import ADDRESS_VARIABLE, process_group

CPU = torch.device("cpu")


def run_ranks(world_size: int, work: Callable[[], None], timeout_s: int = 60) -> bool:
    """Have so many processes do `work` in one process group; whether one of them failed."""
    listener = socket.create_server((LOOPBACK, 0))
    port = listener.getsockname()[1]
    os.environ |= {"WORLD_SIZE": str(world_size), ADDRESS_VARIABLE: f"{LOOPBACK}:{port}"}
    params = DistributedParams(nnodes=1, rdzv_endpoint=f"{LOOPBACK}:0", timeout_s=timeout_s)
    children = [_fork_rank(rank, work, params) for rank in range(world_size)]
    store = dist.TCPStore(
        LOOPBACK, port, is_master=True, wait_for_workers=False, master_listen_fd=listener.detach()
    )
    ended = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    del store  # it serves the ranks until here
    return any(ended)


def _fork_rank(rank: int, work: Callable[[], None], params: DistributedParams) -> int:
    """The child's process id; in the child it does not return."""
    if child := os.fork():
        return child
    try:
        os.environ["RANK"] = str(rank)
        torch.set_num_threads(1)
        with process_group(Devices("cpu-virtual", [CPU], 1), CPU, params):
            work()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)
