"""The lab's own processes that run now, and who can reach them."""

import ipaddress
from collections.abc import Iterator
from pathlib import Path

import psutil

from lab.tools.doctor.finding import Finding, ok, some, warn

PACKAGES = ("lab.", "stages.")


def listeners() -> Iterator[Finding]:
    """None of the lab's processes listens on an address that other machines reach."""
    processes = list(_of_the_lab())
    reached = {
        process.pid: address
        for process in processes
        for address in _listening(process)
        if not _is_loopback(address.rpartition(":")[0])
    }
    for pid, address in reached.items():
        yield warn(
            f"process {pid} of the lab listens on {address}, where other machines reach it: whoever"
            " does can join, without a password",
            f"kill {pid}",
        )
    if not reached:
        running = some([str(process.pid) for process in processes], 10) or "none"
        yield ok(f"processes of the lab that run here: {running}; no other machine reaches any")


def _of_the_lab() -> Iterator[psutil.Process]:
    """The processes of this project, and what they started; not this one and those above it."""
    above = {each.pid for each in (psutil.Process(), *psutil.Process().parents())}
    for process in psutil.process_iter():
        try:
            here = process.pid not in above and Path(process.cwd()) == Path.cwd()
            if here and any(_module(each) for each in (process, *process.parents())):
                yield process
        except psutil.Error:
            continue


def _is_loopback(address: str) -> bool:
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped:
        return found.ipv4_mapped.is_loopback
    return found.is_loopback


def _module(process: psutil.Process) -> str:
    """The module of the lab that a process runs, if its command line says so."""
    words = process.cmdline()
    named = words[words.index("-m") + 1 :][:1] if "-m" in words else []
    return next((word for word in named if word.startswith(PACKAGES)), "")


def _listening(process: psutil.Process) -> Iterator[str]:
    try:
        for connection in process.net_connections(kind="inet"):
            if connection.status == psutil.CONN_LISTEN:
                yield f"{connection.laddr.ip}:{connection.laddr.port}"
    except psutil.Error:
        return


CHECKS = (listeners,)
