"""The ranks of one host listen on loopback only."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from ipaddress import ip_address

import psutil
import pytest
import torch
import torch.distributed as dist

from lab.core.shared_params import BenchParams
from lab.machine.devices import Devices
from lab.parallel.collectives import Ranks, ring
from lab.parallel.local_ranks import run_on_ranks, time_in_turns


def listening() -> set[str]:
    """Return the addresses on which this process and its descendants listen."""
    found = set()
    for process in [me := psutil.Process(), *me.children(recursive=True)]:
        try:
            connections = process.net_connections(kind="inet")
        except psutil.NoSuchProcess:
            continue
        found |= {c.laddr.ip for c in connections if c.status == psutil.CONN_LISTEN}
    return found


@contextmanager
def watched() -> Iterator[set[str]]:
    """Yield a set that collects the addresses listened on within the context."""
    found: set[str] = set()
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.05):
            found.update(listening())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield found
    finally:
        over.set()
        watcher.join()


def sum_often(device, bench):
    call = partial(ring, torch.ones(1000), Ranks(dist.group.WORLD))
    time_in_turns({"ring": call}, bench, 0, device)


@pytest.mark.slow
def test_ranks_listen_on_loopback_only():
    devices = Devices("cpu-virtual", [torch.device("cpu")] * 2, 1)
    params = BenchParams(starts=1, rounds=20, min_sample_ms=5)
    with watched() as found:
        run_on_ranks(2, devices, sum_often, params)
    assert found, "the ranks met somewhere"
    mapped = [ip_address(each.removeprefix("::ffff:")) for each in found]
    assert all(address.is_loopback for address in mapped), found
