"""A rehearsal of several hosts: two folders that share nothing, each with a torchrun agent.

One host is lost during a run in shards, with its agent and its ranks, and the other reports it.
Both resume with fewer devices, and end with the weights of an undisturbed run on one device.
"""

import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import torch
import torch.distributed as dist

from lab.machine.devices import Devices
from lab.nets.models import LeNet
from lab.parallel.local_ranks import run_on_ranks
from lab.training.checkpoints import Checkpoints
from lab.training.loop import Epoch, Progress
from lab.training.processes import Group
from lab.training.steps.by_name import model_and_step
from stages.train.measure.one_run import resumed
from tests import forked
from tests.helpers import ROOT, edit_params, outlived, recipe, run_stage, small_run, write_data

pytestmark = pytest.mark.slow

RUN = small_run(batch_size=32, num_epochs=20, shards=4)


@pytest.fixture
def hosts(project):
    """Return the folders of two hosts."""
    write_data(project / "data", train=600, test=100)
    edit_params({"train.runs": {"whole": RUN, "moved": RUN}})
    other = project.parent / "other_host"
    shutil.copytree(project, other)
    return project, other


def set_up(hosts: tuple[Path, Path], num_gpus: int) -> str:
    """Give both hosts the params of a run on `num_gpus`, and return the first one's address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        endpoint = f"127.0.0.1:{free.getsockname()[1]}"
    for host in hosts:
        changes = {
            "train.runs.moved": RUN | {"strategy": "ddp", "num_gpus": num_gpus},
            "train.timeout_s": 10,
            "devices.cpu_threads": 1,
        }
        edit_params(changes, path=host / "params.yaml")
    return endpoint


def start(host: Path, endpoint: str, ranks: int, python: str | Path) -> subprocess.Popen[str]:
    """Start on a host what the job script in docs/gpus.md starts; both have one address here."""
    script = (ROOT / "docs" / "gpus.md").read_text()
    [documented] = re.findall(r"^srun \.venv/bin/torchrun (.*?)^```", script, re.M | re.S)
    here = {
        '"$SLURM_NNODES"': "2",
        "node=4": f"node={ranks}",
        '"$first:29500"': endpoint,
        "RUN": "moved",
    }
    for said, value in here.items():
        assert said in documented
        documented = documented.replace(said, value)
    is_first = int(host.name != "other_host")
    one_address = ["--local-addr=127.0.0.1", f"--rdzv-conf=is_host={is_first}"]
    torchrun = [str(python), "-m", "torch.distributed.run"]
    command = [*torchrun, *one_address, *shlex.split(documented.replace("\\\n", " "))]
    return subprocess.Popen(
        command,
        cwd=host,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        start_new_session=True,
    )


def checkpoints(host: Path) -> list[Path]:
    return sorted(host.glob(".lab/checkpoints/*/*.pt"))


def lose(agent: subprocess.Popen[str]) -> None:
    """Kill an agent and its ranks, as if the host lost power."""
    family = [*psutil.Process(agent.pid).children(recursive=True), psutil.Process(agent.pid)]
    for process in family:
        process.send_signal(signal.SIGKILL)
    agent.communicate(timeout=60)
    assert not outlived(family)


def test_a_run_that_lost_a_host_resumes_on_fewer_devices_with_the_weights_of_one(hosts):
    first, other = hosts
    assert run_stage("stages.train", "whole").returncode == 0

    endpoint = set_up(hosts, num_gpus=4)
    agents = {host: start(host, endpoint, 2, sys.executable) for host in hosts}
    deadline = time.monotonic() + 90
    while not (keepers := [host for host in hosts if len(checkpoints(host)) > 1]):
        assert time.monotonic() < deadline, "no checkpoint"
        assert all(agent.poll() is None for agent in agents.values())
        time.sleep(0.02)
    [keeper] = keepers  # the one with the first rank, whichever that is
    [lost] = {*hosts} - {keeper}
    lose(agents.pop(lost))
    said, _ = agents[keeper].communicate(timeout=90)
    assert agents[keeper].returncode != 0, said[-2000:]
    assert not (keeper / "models/moved.pt").exists()
    kept = checkpoints(keeper)[-1].name

    # torch ranks agents at one address by age: the host without checkpoints is first now,
    # unless its agent took longer to start
    endpoint = set_up(hosts, num_gpus=2)
    python = forked.on_path() / "python"  # no host is lost from here on
    agents = {host: start(host, endpoint, 1, python) for host in (lost, keeper)}
    said = "".join(agent.communicate(timeout=120)[0] for agent in agents.values())
    assert all(agent.returncode == 0 for agent in agents.values()), said[-2000:]
    [after] = re.findall(r"resumes after (\d+) epochs", said)
    assert int(after) == int(kept.partition("-")[0])
    [moved] = [path for host in hosts if (path := host / "models/moved.pt").exists()]
    assert moved.read_bytes() == (first / "models/whole.pt").read_bytes()
    assert not checkpoints(first) and not checkpoints(other)


def epochs_at_the_start(device: torch.device, folder: Path) -> int:
    """Sum the epochs that ranks resume from, each alone on its host; the first trained more."""
    os.environ["LOCAL_RANK"] = "0"
    checkpoints = Checkpoints("run", folder / os.environ["RANK"])
    net = LeNet(torch.Generator().manual_seed(0))
    model, _ = model_and_step(net, [device], recipe(strategy="ddp"), Group())
    epochs = [Epoch(1, 2.3, 0.1, 4.0), Epoch(2, 1.6, 0.6, 2.0)][dist.get_rank() :]
    checkpoints.save(len(epochs), 0, model.state() | Progress(epochs).state())
    reached = len(resumed("run", model, checkpoints).epochs)
    model.close()
    return int(model.processes.total(torch.tensor(reached)))


def test_the_latest_checkpoint_of_all_hosts_counts(tmp_path):
    devices = Devices("cpu-virtual", [torch.device("cpu")] * 2, 1)
    assert run_on_ranks(2, devices, epochs_at_the_start, tmp_path) == 2 + 2
