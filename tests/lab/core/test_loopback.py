"""Libraries that listen are told to keep to the one interface that no other host reaches."""

import os
import subprocess
import sys

import psutil
import pytest
import torch

from lab.core.errors import DistributedError
from lab.core.loopback import stay_on_loopback
from lab.core.shared_params import LOOPBACK, DistributedParams
from lab.machine.devices import Devices
from lab.parallel.launch import ADDRESS_VARIABLE, process_group, rendezvous_store
from tests.helpers import ROOT, errors, in_namespaces, needs_namespaces

CPU = torch.device("cpu")
TOLD = ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME")


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


def test_a_port_that_nobody_can_have_is_refused_before_the_ranks_meet(untold):
    for name, value in {"RANK": "0", "WORLD_SIZE": "1"}.items():
        untold.setenv(name, value)
    untold.delenv(ADDRESS_VARIABLE, raising=False)
    params = DistributedParams(nnodes=1, rdzv_endpoint="127.0.0.1:0", timeout_s=60)
    with (
        pytest.raises(DistributedError, match="port"),
        process_group(Devices("cpu-virtual", [CPU], 1), CPU, params),
    ):
        pytest.fail("nobody listens there")


TOLD_IT = "from lab.core.loopback import stay_on_loopback as meet"
MET = "from lab.parallel.launch import rendezvous_store; meet = lambda: rendezvous_store(600)"
UP = "ip link set lo up && ip address del 127.0.0.1/8 dev lo && ip address add 127.0.0.2/8 dev lo"


@pytest.mark.slow
@needs_namespaces
@pytest.mark.parametrize(
    ("setup", "call"),
    [
        ("true", TOLD_IT),
        ("ip address add 127.0.0.1/8 dev lo", TOLD_IT),
        (UP, TOLD_IT),
        ("true", MET),
    ],
    ids=["down", "down with its address", "up with another", "down when ranks meet"],
)
def test_an_address_that_does_not_answer_is_said_at_once(project, setup, call):
    program = f"import sys; from lab.core.process import run; {call}; sys.exit(run(meet))"
    command = in_namespaces(setup, sys.executable, "-c", program)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    result = subprocess.run(  # torch would try for minutes
        command, capture_output=True, text=True, env=environment, check=False, timeout=60
    )
    assert result.returncode == 4
    [line] = errors(result)
    assert LOOPBACK in line and "ip link set lo up" in line
