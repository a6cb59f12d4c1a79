"""Real processes for one run: they find each other, and each way of losing one ends in one line."""

import dataclasses
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from lab.core.shared_params import DistributedParams
from lab.parallel import launch
from tests.helpers import ROOT, edit_params, outlived, small_run, write_data

pytestmark = pytest.mark.slow

LONG = small_run(strategy="ddp", num_gpus=2, batch_size=32, num_epochs=10_000)


@pytest.fixture
def two_ranks(project):
    write_data(project / "data", train=600, test=100)
    runs = {"long": LONG, "short": small_run(strategy="ddp", num_gpus=2)}
    edit_params({"train.runs": runs, "train.distributed.timeout_s": 5})


def train(run: str) -> subprocess.Popen[str]:
    return start("-m", "stages.train", run)


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )


def wait_for_an_epoch(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """The launcher's ranks, in order, once they have trained an epoch."""
    assert process.stdout is not None
    for line in process.stdout:
        if " epoch " in line:
            return sorted(
                psutil.Process(process.pid).children(), key=lambda rank: rank.environ()["RANK"]
            )
    pytest.fail(f"no epoch: {process.communicate()[1]}")


def only_one_of(*processes: subprocess.Popen[str]) -> list[subprocess.Popen[str]]:
    """The process that goes on, and the one that ends, of two."""
    deadline = time.monotonic() + 60
    while all(process.poll() is None for process in processes):
        assert time.monotonic() < deadline, "both go on"
        time.sleep(0.05)
    return sorted(processes, key=lambda process: process.returncode is not None)


def end(process: subprocess.Popen[str], ranks: list[psutil.Process]) -> tuple[int, list[str]]:
    """The exit code and the lines of the errors, when all processes are gone."""
    errors = process.communicate(timeout=120)[1].splitlines()
    assert not outlived(ranks)
    return process.returncode, errors


def listening(processes: list[psutil.Process]) -> set[str]:
    """The addresses on which they listen."""
    connections = [connection for process in processes for connection in process.net_connections()]
    return {
        connection.laddr.ip for connection in connections if connection.status == psutil.CONN_LISTEN
    }


def checkpoints() -> list[str]:
    return sorted(path.name for path in Path().glob(".lab/checkpoints/*/*.pt"))


def test_a_dead_rank_ends_the_run_and_a_stopped_one_can_go_on(two_ranks):
    process, refused = only_one_of(train("long"), train("long"))
    code, errors = end(refused, [])
    assert (code, len(errors)) == (7, 1)
    assert "another process trains this very run" in errors[0]
    ranks = wait_for_an_epoch(process)
    assert listening([psutil.Process(process.pid), *ranks]) == {"127.0.0.1"}, (
        "nothing for other hosts to reach"
    )
    ranks[1].kill()
    assert end(process, ranks) == (
        7,
        ["ERROR: rank 1 was ended by SIGKILL; the same command goes on from the last checkpoint"],
    )
    kept = checkpoints()
    assert len(kept) in (1, 2)

    process = train("long")
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(2)]
    assert re.search(rf"goes on after {int(kept[-1][:5])} epochs and 0 steps", lines[1])
    ranks = wait_for_an_epoch(process)
    process.send_signal(signal.SIGTERM)
    assert end(process, ranks) == (
        143,
        ["ERROR: long: interrupted; the same command goes on from the last checkpoint"],
    )
    assert checkpoints()[-1] > kept[-1]


def test_the_launcher_is_given_only_settings_that_its_torch_has(monkeypatch, tmp_path):
    """torch 2.11 has no `shutdown_timeout`; newer ones take it."""
    params = DistributedParams(nnodes=1, rdzv_endpoint="127.0.0.1:0", timeout_s=5)
    assert launch._config("run", 2, params, tmp_path).nproc_per_node == 2
    as_in_2_11 = [
        (field.name, field.type, field)
        for field in dataclasses.fields(launch.LaunchConfig)
        if field.name != "shutdown_timeout"
    ]
    older = dataclasses.make_dataclass("LaunchConfig", as_in_2_11)
    monkeypatch.setattr(launch, "LaunchConfig", older)
    assert launch._config("run", 2, params, tmp_path).max_restarts == 0


def start_waiting_ranks(folder: Path) -> subprocess.Popen[str]:
    program = f"""
from lab.core.shared_params import DistributedParams
from lab.parallel.launch import launch
params = DistributedParams(nnodes=1, rdzv_endpoint="127.0.0.1:0", timeout_s=60)
launch("tests.lab.parallel.waiting_rank", {str(folder)!r}, 2, params, threads=1)
"""
    return subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, text=True)


def test_a_launcher_that_is_killed_takes_its_ranks_along(tmp_path):
    """Both as soon as it has a rank, and when both ranks are at work."""
    folders = [tmp_path / "at once", tmp_path / "at work"]
    for folder in folders:
        folder.mkdir()
    launchers = [start_waiting_ranks(folder) for folder in folders]
    waiting = list(zip(launchers, (1, 2), (0, 2), folders, strict=True))
    ranks: list[psutil.Process] = []
    while waiting:
        for one in list(waiting):
            process, least, at_work, folder = one
            assert process.poll() is None
            found = psutil.Process(process.pid).children(recursive=True)
            if len(found) >= least and len(list(folder.iterdir())) >= at_work:
                process.kill()
                process.wait(timeout=20)
                ranks += found
                waiting.remove(one)
        time.sleep(0.005)
    assert len(ranks) >= 3
    assert not outlived(ranks, 5)


def test_a_port_in_use_is_said(two_ranks):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        edit_params({"train.distributed.rdzv_endpoint": f"127.0.0.1:{port}"})
        code, errors = end(train("short"), [])
    assert (code, len(errors)) == (7, 1)
    assert re.search(
        rf"rdzv_endpoint 127\.0\.0\.1:{port}: Address already in use.*take port 0", errors[0]
    )


def results() -> tuple[bytes, list[str]]:
    rows = Path("reports/train/short/rows.csv").read_text().splitlines()
    return Path("models/short.pt").read_bytes(), [",".join(row.split(",")[:3]) for row in rows]


def test_two_nodes_give_the_one_nodes_result_to_the_bit(two_ranks):
    """Two launchers on one host with a rank each, the second one torchrun as on another host."""
    assert end(train("short"), []) == (0, [])
    one_node = results()
    with socket.create_server(("127.0.0.1", 0)) as free:
        endpoint = f"127.0.0.1:{free.getsockname()[1]}"
    edit_params({"train.distributed": {"nnodes": 2, "rdzv_endpoint": endpoint, "timeout_s": 30}})
    Path("models/short.pt").unlink()
    first = train("short")
    torchrun = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--nnodes=2",
        "--nproc-per-node=1",
        "--rdzv-backend=c10d",
        f"--rdzv-endpoint={endpoint}",
        "--rdzv-id=short",
        "--local-addr=127.0.0.1",
        "--rdzv-conf=is_host=0",
        "-m",
        "stages.train",
        "short",
    ]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    second = subprocess.run(
        torchrun, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert end(first, []) == (0, [])
    assert second.returncode == 0, second.stderr
    assert results() == one_node


def test_a_silent_rank_ends_the_run_after_the_timeout(two_ranks):
    """torch's launcher then waits half a minute before it kills the rank: here a second."""
    program = """
import runpy, sys
from torch.distributed.elastic.multiprocessing.api import PContext
PContext.close.__defaults__ = (None, 1)
sys.argv = ["stages.train", "long"]
runpy.run_module("stages.train", run_name="__main__", alter_sys=True)
"""
    process = start("-c", program)
    ranks = wait_for_an_epoch(process)
    ranks[1].suspend()
    assert end(process, ranks) == (
        7,
        ["ERROR: rank 1 did not answer in time; the same command goes on from the last checkpoint"],
    )
    assert checkpoints()
