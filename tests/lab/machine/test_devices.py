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


def test_one_device_gets_what_each_of_two_gets():
    for num_devices, cores, threads in (
        (1, 1, 1),
        (1, 2, 1),
        (2, 2, 1),
        (1, 8, 4),
        (2, 8, 4),
        (4, 8, 2),
        (3, 8, 2),
        (8, 2, 1),
    ):
        found = threads_per_device(num_devices, "auto", cores)
        assert found == threads, (num_devices, cores)


def test_stated_threads_are_obeyed():
    assert threads_per_device(1, 3, cores=2) == 3


def test_a_run_gets_gpus_where_there_are_enough_and_labelled_stand_ins_otherwise(monkeypatch):
    for found, asked, kind, names in (
        (0, 1, "cpu-virtual", ["cpu"]),
        (0, 3, "cpu-virtual", ["cpu", "cpu", "cpu"]),
        (1, 1, "cuda", ["cuda:0"]),
        (1, 2, "cuda-shared", ["cuda:0", "cuda:0"]),
        (2, 2, "cuda", ["cuda:0", "cuda:1"]),
        (2, 3, "cuda-shared", ["cuda:0", "cuda:1", "cuda:0"]),
        (8, 2, "cuda", ["cuda:0", "cuda:1"]),
    ):
        monkeypatch.setattr(torch.cuda, "device_count", lambda found=found: found)
        got = resolve(asked, AUTO)
        devices = [str(device) for device in got.devices]
        assert (got.kind, devices) == (kind, names), (found, asked)


def test_resolving_gives_torch_its_threads(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    assert resolve(2, DeviceParams(cpu_threads=1)).threads == torch.get_num_threads() == 1


def has_cores(monkeypatch, count: int, quota: float) -> None:
    monkeypatch.setattr(devices, "quota_cores", lambda: quota)
    monkeypatch.setattr(devices, "allowed_cores", lambda: list(range(count)))


def test_a_cgroup_quota_limits_the_cores(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    for quota, cores in ((0.5, 1), (1.5, 1), (2.0, 2), (float("inf"), 64)):
        has_cores(monkeypatch, 64, quota)
        assert usable_cores() == cores, quota


def test_omp_num_threads_limits_the_cores(monkeypatch):
    has_cores(monkeypatch, 8, float("inf"))
    for wish, cores in (("1", 1), ("3,1", 3), ("64", 8), ("", 8), ("0", 8), ("many", 8)):
        monkeypatch.setenv("OMP_NUM_THREADS", wish)
        assert usable_cores() == cores, wish


@pytest.mark.parametrize(
    ("flags", "expected"), [("avx512f avx512_bf16", "bf16"), ("avx2 avx512f", "fp32")]
)
def test_bf16_if_fast_is_float32_without_its_instructions(monkeypatch, tmp_path, flags, expected):
    (tmp_path / "cpuinfo").write_text(f"model name : X\nflags : fpu {flags} sse\n")
    monkeypatch.setattr(devices, "Path", lambda _: tmp_path / "cpuinfo")
    cpu = torch.device("cpu")
    assert devices.precision_on(cpu, "bf16_if_fast") == expected
    assert devices.precision_on(cpu, "bf16") == "bf16", "as asked"
