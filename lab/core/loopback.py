"""The loopback address, which no other host can reach, and keeping libraries on it."""

import os
import socket

import psutil

from lab.core.errors import MachineError
from lab.core.shared_params import LOOPBACK

ANSWER_S = 5.0


def check_loopback() -> str:
    """Connect to the address and return the name of the interface that has it.

    If nothing answers there, torch would try for minutes and ignore signals.

    Raises:
        MachineError: nothing answers, as in a network namespace whose interfaces are down.
    """
    try:
        with socket.create_server((LOOPBACK, 0)) as server:
            socket.create_connection(server.getsockname(), ANSWER_S).close()
        return next(
            name
            for name, found in psutil.net_if_addrs().items()
            if any(a.address == LOOPBACK for a in found)
        )
    except (OSError, StopIteration) as error:
        why = getattr(error, "strerror", None) or str(error) or "no interface has it"
        raise MachineError(
            f"{LOOPBACK} cannot be reached ({why}), and the processes of a run meet there;"
            f" `ip link set lo up; ip addr add {LOOPBACK}/8 dev lo`"
        ) from None


def stay_on_loopback() -> None:
    """Have gloo and NCCL listen only on the loopback interface, for the rest of this process.

    By default, both take the first network that they find, NCCL even within one process.

    Raises:
        MachineError: nothing answers at the loopback address.
    """
    interface = check_loopback()
    os.environ["GLOO_SOCKET_IFNAME"] = interface
    os.environ["NCCL_SOCKET_IFNAME"] = f"={interface}"  # `=`: this one, not each with this prefix
