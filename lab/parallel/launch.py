"""The process group of a run, and torch's elastic launcher for runs over several hosts.

The ranks of one host are forked (lab/parallel/local_ranks.py). For several hosts set
`train.distributed.nnodes`, and `rdzv_endpoint` to the first one's address, and give the same
command on each, `python -m stages.train RUN`. On those beyond the first torch's own launcher does
as well, with as many processes as the run has devices on each host:

    torchrun --nnodes=2 --nproc-per-node=1 --rdzv-backend=c10d --rdzv-endpoint=HOST:PORT \\
        --rdzv-id=RUN -m stages.train RUN

The host of rank 0 writes the checkpoints and the results; which host that is, torch decides each
time that they meet, so a run goes on from the checkpoint that is furthest on any of them. Whoever
can reach the port can join, without a password, so it belongs in a private network.
"""

import logging
import os
import shutil
import signal
import socket
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil
import torch
import torch.distributed as dist
from torch.distributed.elastic.multiprocessing.api import DefaultLogsSpecs, SignalException
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError, ProcessFailure
from torch.distributed.elastic.rendezvous import RendezvousError
from torch.distributed.launcher.api import LaunchConfig, elastic_launch

from lab.core.errors import DistributedError, LabError, StoppedError
from lab.core.loopback import check_loopback, stay_on_loopback
from lab.core.params import PARAMS_FILE
from lab.core.process import RANK_MARK
from lab.core.shared_params import LOOPBACK, DistributedParams
from lab.machine.devices import Devices

# where the launcher tells its ranks that the store of this run listens; a job's script may, too
ADDRESS_VARIABLE = "LAB_RENDEZVOUS"
SHUTDOWN_S = 6  # for a rank to finish its step and write a checkpoint before it is killed
RANKS_FOLDER = Path(".lab/ranks")  # where ranks leave what they died of

log = logging.getLogger(__name__)


class PeerLostError(DistributedError):
    """A collective failed because another rank is gone or silent: a symptom, seldom the cause."""


def own_rank() -> int | None:
    """This process's rank among those that torch's launcher or the lab started; None if none did.

    RANK and WORLD_SIZE alone are no sign of that: clusters set them in every container.
    """
    return int(os.environ["RANK"]) if RANK_MARK in os.environ else None


def launch(
    module: str, run: str, num_processes: int, params: DistributedParams, threads: int
) -> None:
    """Run `python -m module run` in `num_processes` on each host, and wait for those of this one.

    No restarts: the same command resumes from the last checkpoint.

    Raises:
        DistributedError: a process died or fell silent, or another host did not join.
        LabError: what a process ended with, with its exit code.
        StoppedError: SIGTERM or Ctrl-C; the processes were asked to stop and did.
    """
    if not params.on_loopback:
        log.warning(
            "WARNING: whoever reaches %s can join this run and have code of theirs run in it, since"
            " torch's store asks for no password; keep it in a private network (SECURITY.md)",
            params.rdzv_endpoint,
        )
    logging.disable(logging.ERROR)  # we report an error once; the ranks have their own logs
    os.environ["TORCH_CPP_LOG_LEVEL"] = "FATAL"
    os.environ["OMP_NUM_THREADS"] = str(threads)  # 1 otherwise, whatever the run says
    # or the agent would listen on every address
    os.environ["TORCH_DISABLE_SHARE_RDZV_TCP_STORE"] = "1"
    os.environ.setdefault(ADDRESS_VARIABLE, params.rdzv_endpoint)
    with _folder_for_errors() as folder:
        try:
            elastic_launch(_config(run, num_processes, params, folder), sys.executable)(
                "-m", module, run
            )
        except ChildFailedError as error:
            raise _explain(error.failures) from None
        except SignalException as stop:
            raise StoppedError(
                f"{run}: interrupted; the same command resumes from the last checkpoint",
                stop.sigval,
            ) from None
        except (RendezvousError, dist.DistError) as error:
            raise DistributedError(
                f"{params.rdzv_endpoint}: {params.nnodes} node(s) did not meet there within"
                f" {params.timeout_s} s ({error.__cause__ or error}); see train.distributed, and"
                " whether another program has the port"
            ) from None


@contextmanager
def _folder_for_errors() -> Iterator[Path]:
    """A folder of this launcher's own; those of launchers that were killed are deleted."""
    host = socket.gethostname()  # others may share the folder
    for left in RANKS_FOLDER.glob(f"{host}-*"):
        pid = left.name.rpartition("-")[2]
        if pid.isdigit() and not psutil.pid_exists(int(pid)):
            shutil.rmtree(left, ignore_errors=True)
    folder = RANKS_FOLDER / f"{host}-{os.getpid()}"
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _config(run: str, num_processes: int, params: DistributedParams, folder: Path) -> LaunchConfig:
    """The launcher's settings that this version of torch knows."""
    settings: dict[str, Any] = {
        "min_nodes": params.nnodes,
        "max_nodes": params.nnodes,
        "nproc_per_node": num_processes,
        "run_id": run,
        "max_restarts": 0,
        "shutdown_timeout": SHUTDOWN_S,  # since torch 2.12
        "rdzv_backend": "c10d",
        "rdzv_endpoint": params.rdzv_endpoint,
        "rdzv_configs": {"join_timeout": params.timeout_s, "read_timeout": params.timeout_s},
        "local_addr": LOOPBACK if params.on_loopback else None,
        "logs_specs": DefaultLogsSpecs(str(folder.absolute())),
    }
    known = {field.name for field in fields(LaunchConfig)}
    return LaunchConfig(**{name: value for name, value in settings.items() if name in known})


def rendezvous_store(timeout_s: float) -> tuple[dist.TCPStore, str]:
    """A store on a free port of the loopback address, and that address: for ranks of this host.

    It serves for as long as it is kept.

    Raises:
        MachineError: nothing reaches the address.
    """
    check_loopback()
    listener = socket.create_server((LOOPBACK, 0))
    port = listener.getsockname()[1]
    return store_on_loopback(listener, port, timeout_s), f"{LOOPBACK}:{port}"


def store_on_loopback(listener: socket.socket | None, port: int, timeout_s: float) -> dist.TCPStore:
    """The store at a port of the loopback address: served by `listener`, or by another process."""
    return dist.TCPStore(
        LOOPBACK,
        port,
        is_master=listener is not None,
        wait_for_workers=False,
        master_listen_fd=listener.detach() if listener else None,
        timeout=timedelta(seconds=timeout_s),
    )


def _explain(failures: Mapping[int, ProcessFailure]) -> LabError:
    """What went wrong first, from how each rank of this host ended."""
    messages = {
        rank: f.error_file_data["message"]
        for rank, f in failures.items()
        if Path(f.error_file).is_file()
    }
    for message in messages.values():
        if message["kind"] not in (PeerLostError.__name__, StoppedError.__name__):
            error = LabError(message["message"])
            error.exit_code = message["exit_code"]
            return error
    silent = {rank: f for rank, f in failures.items() if rank not in messages}
    symptoms = [message["message"] for message in messages.values()]
    waited = any("imed out" in symptom for symptom in symptoms)
    # the launcher ends the other ranks once one has failed; without a timeout they did not cause it
    if not waited:
        silent = {rank: f for rank, f in silent.items() if f.exitcode != -signal.SIGTERM} or silent

    def end(rank: int, failure: ProcessFailure) -> str:
        if waited:
            return f"rank {rank} did not answer in time"
        code = failure.exitcode
        return f"rank {rank} " + (
            f"was ended by {failure.signal_name()}" if code < 0 else f"ended with {code}"
        )

    what = ", ".join(end(rank, f) for rank, f in silent.items()) or symptoms[0]
    return DistributedError(f"{what}; the same command resumes from the last checkpoint")


@contextmanager
def process_group(devices: Devices, own: torch.device, params: DistributedParams) -> Iterator[None]:
    """Join the ranks of this run, with `own` as this one's device, while the context lasts.

    Collectives use NCCL between GPUs and gloo otherwise, as NCCL cannot share a GPU; tensors on the
    CPU always go through gloo.

    Raises:
        DistributedError: the params name no port.
        PeerLostError: a collective failed, or took longer than the params say.
    """
    rank, world_size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    host, _, port = os.environ.get(ADDRESS_VARIABLE, params.rdzv_endpoint).rpartition(":")
    if port == "0":
        raise DistributedError(
            f"{PARAMS_FILE}: train.distributed: expected a port for ranks of torchrun's, got"
            f" {host}:{port}; set rdzv_endpoint, or run `python -m stages.train RUN`"
        )
    timeout = timedelta(seconds=params.timeout_s)
    # one channel fits both memory formats
    warnings.filterwarnings("ignore", "Grad strides do not match")
    if params.on_loopback and (params.nnodes == 1 or host in (LOOPBACK, "localhost")):
        stay_on_loopback()  # unless a job's script named another host
    if own.type == "cuda":
        torch.cuda.set_device(own)
    try:
        store = dist.TCPStore(
            host, int(port), is_master=False, wait_for_workers=False, timeout=timeout
        )
        dist.init_process_group(
            "cpu:gloo,cuda:nccl" if devices.kind == "cuda" else "gloo",
            store=dist.PrefixStore("ranks", store),
            rank=rank,
            world_size=world_size,
            timeout=timeout,
        )
        yield
        dist.destroy_process_group()
    except RuntimeError as error:
        if isinstance(error, dist.DistError) or "gloo" in str(error):
            raise PeerLostError(
                f"rank {rank} lost another one ({str(error).partition('. ')[0]})"
            ) from None
        raise


def check_ranks_agree(key: str) -> None:
    """Stop unless every rank would train the same run.

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
