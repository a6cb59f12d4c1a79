"""Libraries that listen are told to keep to the one interface that no other host reaches."""

import os
import subprocess
import sys

import psutil
import pytest
import torch

from lab.core.errors import DistributedError, MachineError
from lab.core.loopback import stay_on_loopback
from lab.core.shared_params import LOOPBACK, DistributedParams
from lab.machine.devices import Devices
from lab.parallel.launch import ADDRESS_VARIABLE, process_group, rendezvous_store
from tests.helpers import ROOT, errors, unshared

CPU = torch.device("cpu")
TOLD = ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME")


STAYS = """
from lab.core.errors import DistributedError, MachineError
from lab.core.loopback import stay_on_loopback
from lab.core.process import run
raise SystemExit(run(stay_on_loopback))
"""


@pytest.fixture
def untold(monkeypatch):
    """A process that was told nothing, or something else by its user."""
    for name in TOLD:
        monkeypatch.setenv(name, "eth0")
    return monkeypatch


def test_both_are_told_the_loopback_interface(untold):
    stay_on_loopback()
    gloo, nccl = (os.environ[name] for name in TOLD)
    assert LOOPBACK in {address.address for address in psutil.net_if_addrs()[gloo]}
    assert nccl == f"={gloo}", "NCCL takes the name alone for the beginning of names"


@pytest.mark.parametrize(
    ("nnodes", "endpoint", "loopback"),
    [(1, "127.0.0.1:0", True), (2, "10.0.0.1:29500", False), (2, "127.0.0.1:29500", True)],
)
def test_ranks_are_told_before_they_meet_if_all_are_on_this_host(
    untold, nnodes, endpoint, loopback
):
    store, address = rendezvous_store(60)
    for name, value in {"RANK": "0", "WORLD_SIZE": "1", ADDRESS_VARIABLE: address}.items():
        untold.setenv(name, value)
    if not loopback:
        untold.setenv("GLOO_SOCKET_IFNAME", next(iter(psutil.net_if_addrs())))
    params = DistributedParams(nnodes=nnodes, rdzv_endpoint=endpoint, timeout_s=60)
    with process_group(Devices("cpu-virtual", [CPU], 1), CPU, params):
        assert (os.environ["NCCL_SOCKET_IFNAME"] == "eth0") is not loopback
    del store


def test_an_interface_that_is_down_is_named_before_anybody_waits(project):
    ended = subprocess.run(
        [*unshared("-n"), sys.executable, "-c", STAYS],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == MachineError.exit_code
    [line] = errors(ended)
    assert LOOPBACK in line


def test_a_rank_without_a_port_to_meet_at_is_refused(monkeypatch):
    monkeypatch.delenv(ADDRESS_VARIABLE, raising=False)
    for name, value in {"RANK": "0", "WORLD_SIZE": "1"}.items():
        monkeypatch.setenv(name, value)
    params = DistributedParams(nnodes=1, rdzv_endpoint=f"{LOOPBACK}:0", timeout_s=5)
    with (
        pytest.raises(DistributedError, match="rdzv_endpoint"),
        process_group(Devices("cpu-virtual", [CPU], 1), CPU, params),
    ):
        pass
