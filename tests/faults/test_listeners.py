"""Who listens for others: on one host nobody; over several hosts the launcher says so."""

import contextlib
import logging
import os
import socket
import sys
import threading
from collections.abc import Iterable, Iterator
from ipaddress import ip_address
from pathlib import Path

import psutil
import pytest
import torch

from lab.core.shared_params import BenchParams, DistributedParams
from lab.machine.devices import Devices
from lab.parallel import launch
from lab.parallel.allreduce.times import Arm, time_among_ranks
from lab.parallel.cost_model import RING

LISTEN = "0A"  # as the kernel writes it


def listening(processes: Iterable[int]) -> set[str]:
    """The addresses on which processes listen, from the kernel's table."""
    sockets = set()
    for pid in processes:
        with contextlib.suppress(OSError):  # it has ended
            for entry in Path(f"/proc/{pid}/fd").iterdir():
                with contextlib.suppress(OSError):
                    sockets.add(str(entry.readlink()))
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            _, local, _, state, *_, inode = line.split()[:10]
            if state == LISTEN and f"socket:[{inode}]" in sockets:
                found.add(address_of(local.partition(":")[0]))
    return found


def address_of(digits: str) -> str:
    """An address as the kernel writes it: 32-bit words in the machine's order."""
    words = [
        int(digits[i : i + 8], 16).to_bytes(4, sys.byteorder) for i in range(0, len(digits), 8)
    ]
    return str(ip_address(b"".join(words)))


def is_open_to_others(address: str) -> bool:
    found = ip_address(address)
    return not (getattr(found, "ipv4_mapped", None) or found).is_loopback


def test_the_kernels_table_tells_who_listens_where():
    with (
        socket.create_server(("127.0.0.1", 0)),
        socket.create_server(("::1", 0), family=socket.AF_INET6),
    ):
        before = listening([os.getpid()])
        assert {"127.0.0.1", "::1"} <= before
        with socket.create_server(("", 0)):
            assert listening([os.getpid()]) - before == {"0.0.0.0"}  # noqa: S104
    assert [is_open_to_others(a) for a in ("127.0.0.1", "::1", "::ffff:127.0.0.1")] == [False] * 3
    assert all(is_open_to_others(a) for a in ("0.0.0.0", "::", "::ffff:10.0.0.1"))  # noqa: S104


@contextlib.contextmanager
def family_watched() -> Iterator[set[str]]:
    """Where this process and its descendants listen, at any moment of the context."""
    found: set[str] = set()
    over = threading.Event()
    me = psutil.Process()

    def watch() -> None:
        while not over.wait(0.1):
            found.update(listening([me.pid, *(child.pid for child in me.children(recursive=True))]))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield found
    finally:
        over.set()
        watcher.join()


def test_measuring_collectives_listens_on_loopback_alone():
    """A run of ddp is watched in tests/lab/parallel/test_launch.py."""
    devices = Devices("cpu-virtual", [torch.device("cpu")] * 2, 1)
    params = BenchParams(starts=1, rounds=20, min_sample_ms=5)
    with family_watched() as found:
        time_among_ranks([Arm(RING, 2, (1000,))], params, devices)
    assert found, "the ranks met somewhere"
    assert not any(map(is_open_to_others, found)), found


@pytest.mark.parametrize(
    ("endpoint", "nnodes", "warns"),
    [("10.0.0.1:29500", 2, True), ("127.0.0.1:29500", 2, False), ("10.0.0.1:29500", 1, False)],
)
def test_a_run_over_several_hosts_says_once_who_can_join(
    endpoint, nnodes, warns, tmp_path, monkeypatch, caplog
):
    monkeypatch.setattr(launch, "elastic_launch", lambda config, entry: lambda *words: None)
    monkeypatch.setattr(launch.os, "environ", dict(os.environ))
    monkeypatch.setattr(logging, "disable", lambda level=0: None)
    monkeypatch.setattr(launch, "RANKS_FOLDER", tmp_path)
    params = DistributedParams(nnodes=nnodes, rdzv_endpoint=endpoint, timeout_s=5)
    launch.launch("a", "a", 1, params, 1)
    said = [record.getMessage() for record in caplog.records]
    assert [f"whoever reaches {endpoint} can join" in line for line in said] == [True] * warns
