"""The devices and threads of a run, in one process and in each of several."""

import pytest
import torch

from lab.core.errors import MachineError, SpaceError
from lab.core.shared_params import DeviceParams
from lab.machine import devices, limits
from stages.train.measure import placement
from stages.train.measure.placement import check_machine_can, check_step_fits, devices_of
from tests.helpers import recipe, small_run

AUTO = DeviceParams(cpu_threads="auto")


@pytest.fixture
def sixteen_cores(monkeypatch):
    monkeypatch.setattr(limits, "allowed_cores", lambda: list(range(16)))
    monkeypatch.setattr(limits, "quota_cores", lambda: float("inf"))
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


def settings(**changes):
    return recipe(**small_run(**changes))


def as_rank(monkeypatch, world_size, threads):
    """Set a rank's environment, as a launcher sets it that gives each rank `threads`."""
    numbers = {"WORLD_SIZE": world_size, "LOCAL_WORLD_SIZE": world_size, "LOCAL_RANK": 0}
    for name, value in (numbers | {"OMP_NUM_THREADS": threads}).items():
        monkeypatch.setenv(name, str(value))


@pytest.mark.parametrize(("num_gpus", "threads"), [(1, 8), (2, 8), (4, 4)])
def test_a_rank_has_the_threads_that_its_launcher_counted(
    monkeypatch, sixteen_cores, num_gpus, threads
):
    """Threads are divided among devices once: a device has as many in a process of its own."""
    assert devices_of(settings(num_gpus=num_gpus), AUTO)[0].threads == threads
    counted = devices.resolve(num_gpus, AUTO).threads
    as_rank(monkeypatch, num_gpus, counted)
    assert devices_of(settings(num_gpus=num_gpus, strategy="ddp"), AUTO)[0].threads == threads
    assert torch.get_num_threads() == threads


def test_a_step_that_cannot_fit_is_refused_before_any_work(monkeypatch):
    """One replica on a device, or two that share it; half of the bytes in bfloat16."""
    cpu, deep = torch.device("cpu"), {"net": "convnet_deep", "batch_size": 512}
    monkeypatch.setattr(placement, "memory_bytes", lambda: 0.2 * 2**30)
    one, two = (settings(**deep, num_gpus=count) for count in (1, 2))
    with pytest.raises(SpaceError) as refused:
        check_step_fits("big", one, "fp32", [cpu])
    assert str(refused.value) == (
        "params.yaml: train.runs.big.batch_size: a step on 512 images needs 0.3 GiB of cpu's memory"
        " or more, which has 0.2; take fewer"
    )
    assert refused.value.exit_code == 8
    check_step_fits("big", one, "bf16", [cpu])
    check_step_fits("big", two, "fp32", [cpu])  # the other replica is in a different process
    with pytest.raises(SpaceError):
        check_step_fits("big", two, "fp32", [cpu, cpu])
    sharded = one.but(shards=2)  # only one shard is in memory at a time
    check_step_fits("big", sharded, "fp32", [cpu])
    check_step_fits("big", one.but(compile="default"), "fp32", [cpu])


@pytest.mark.parametrize("variable", devices.COMPILE_SWITCHES)
def test_a_run_that_needs_a_turned_off_compiler_is_refused(monkeypatch, variable):
    monkeypatch.setenv(variable, "1")
    cpu = torch.device("cpu")
    check_machine_can("a", settings(), cpu)
    with pytest.raises(MachineError, match=variable) as error:
        check_machine_can("a", settings(compile="default"), cpu)
    assert error.value.exit_code == 4
