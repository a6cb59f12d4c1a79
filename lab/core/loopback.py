"""The address of this host that no other can reach, and libraries that are told to keep to it."""

import os

import psutil

from lab.core.shared_params import LOOPBACK


def stay_on_loopback() -> None:
    """Have gloo and NCCL listen on the loopback interface alone, for as long as this process lives.

    By themselves both take the first network that they find, NCCL also within one process.
    """
    interface = next(
        name
        for name, found in psutil.net_if_addrs().items()
        if any(a.address == LOOPBACK for a in found)
    )
    os.environ["GLOO_SOCKET_IFNAME"] = interface
    os.environ["NCCL_SOCKET_IFNAME"] = f"={interface}"  # this one, not all whose names begin so
