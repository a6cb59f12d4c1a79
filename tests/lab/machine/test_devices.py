import pytest
import torch

from lab.core.shared_params import DeviceParams
from lab.machine import devices
from lab.machine.devices import resolve, threads_per_device, usable_cores

AUTO = DeviceParams(cpu_threads="auto")


@pytest.fixture(autouse=True)
def keep_threads():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("num_devices", "cores", "threads"),
    [(1, 1, 1), (1, 2, 1), (2, 2, 1), (1, 8, 4), (2, 8, 4), (4, 8, 2), (3, 8, 2), (8, 2, 1)],
)
def test_one_device_gets_what_each_of_two_gets(num_devices, cores, threads):
    assert threads_per_device(num_devices, "auto", cores) == threads


def test_stated_threads_are_obeyed():
    assert threads_per_device(1, 3, cores=2) == 3


@pytest.mark.parametrize(
    ("found", "asked", "kind", "names"),
    [
        (0, 1, "cpu-virtual", ["cpu"]),
        (0, 3, "cpu-virtual", ["cpu", "cpu", "cpu"]),
        (1, 1, "cuda", ["cuda:0"]),
        (1, 2, "cuda-shared", ["cuda:0", "cuda:0"]),
        (2, 2, "cuda", ["cuda:0", "cuda:1"]),
        (2, 3, "cuda-shared", ["cuda:0", "cuda:1", "cuda:0"]),
        (8, 2, "cuda", ["cuda:0", "cuda:1"]),
    ],
)
def test_a_run_gets_gpus_where_there_are_enough_and_labelled_stand_ins_otherwise(
    monkeypatch, found, asked, kind, names
):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: found)
    got = resolve(asked, AUTO)
    assert (got.kind, [str(device) for device in got.devices]) == (kind, names)


def test_resolving_gives_torch_its_threads(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    assert resolve(2, DeviceParams(cpu_threads=1)).threads == torch.get_num_threads() == 1


@pytest.mark.parametrize(("quota", "cores"), [(0.5, 1), (1.5, 1), (2.0, 2), (float("inf"), 64)])
def test_a_cgroup_quota_limits_the_cores(monkeypatch, quota, cores):
    monkeypatch.setattr(devices, "quota_cores", lambda: quota)
    monkeypatch.setattr(
        devices.psutil.Process, "cpu_affinity", lambda self: list(range(64)), raising=False
    )
    assert usable_cores() == cores


@pytest.mark.parametrize(
    ("wish", "cores"), [("1", 1), ("3,1", 3), ("64", 8), ("", 8), ("0", 8), ("many", 8)]
)
def test_omp_num_threads_limits_the_cores(monkeypatch, wish, cores):
    monkeypatch.setattr(devices, "quota_cores", lambda: float("inf"))
    monkeypatch.setattr(
        devices.psutil.Process, "cpu_affinity", lambda self: list(range(8)), raising=False
    )
    monkeypatch.setenv("OMP_NUM_THREADS", wish)
    assert usable_cores() == cores
