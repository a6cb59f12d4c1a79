"""Libraries that listen on ports are restricted to the loopback interface."""

import os
import socket

import psutil
import pytest
import torch
from torch.distributed import TCPStore

from lab.core.loopback import stay_on_loopback
from lab.core.shared_params import LOOPBACK
from lab.machine.devices import Devices
from lab.parallel.process_group import place, process_group
from tests.helpers import errors, in_namespaces, needs_namespaces, python

CPU = torch.device("cpu")
TOLD = ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME")


@pytest.fixture
def untold(monkeypatch):
    """Set both variables to a different interface, as a user might."""
    for name in TOLD:
        monkeypatch.setenv(name, "eth0")
    return monkeypatch


def test_both_libraries_use_the_loopback_interface(untold):
    stay_on_loopback()
    gloo, nccl = (os.environ[name] for name in TOLD)
    assert LOOPBACK in {address.address for address in psutil.net_if_addrs()[gloo]}
    assert nccl == f"={gloo}", "NCCL takes the name alone for the beginning of names"


@pytest.mark.parametrize("first_host", ["127.0.0.1", "localhost", socket.gethostname()])
def test_ranks_use_loopback_if_all_are_known_to_be_on_this_host(untold, first_host):
    """If torchrun names the host by its hostname, ranks may be on other hosts as well."""
    listener = socket.create_server(("", 0))
    port = listener.getsockname()[1]
    store = TCPStore(
        "localhost",
        port,
        is_master=True,
        wait_for_workers=False,
        master_listen_fd=listener.detach(),
    )
    for name, value in (place(0, 1, 1, port) | {"MASTER_ADDR": first_host}).items():
        untold.setenv(name, value)
    on_loopback = first_host in (LOOPBACK, "localhost")
    if not on_loopback:
        untold.setenv("GLOO_SOCKET_IFNAME", next(iter(psutil.net_if_addrs())))
    with process_group(Devices("cpu-virtual", [CPU], 1), CPU, 60):
        assert (os.environ["NCCL_SOCKET_IFNAME"] == "eth0") is not on_loopback
    del store


TOLD_IT = "from lab.core.loopback import stay_on_loopback as meet"
MET = (
    "from lab.parallel.process_group import rendezvous_store; meet = lambda: rendezvous_store(600)"
)
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
def test_an_unreachable_loopback_address_is_reported_immediately(project, setup, call):
    program = f"import sys; from lab.core.process import run; {call}; sys.exit(run(meet))"
    # torch would try for minutes
    result = python("-c", program, through=in_namespaces(setup), timeout=60)
    assert result.returncode == 4
    [line] = errors(result)
    assert LOOPBACK in line and "`ip link set lo up; ip addr add 127.0.0.1/8 dev lo`" in line
