import pytest
import torch

from lab.core.shared_params import DeviceParams
from lab.machine import devices, limits, torch_build
from lab.machine.devices import allow_tf32, for_ranks, resolve, threads_per_device
from lab.machine.limits import usable_cores

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
def test_one_device_gets_as_many_threads_as_each_of_two(num_devices, cores, threads):
    assert threads_per_device(num_devices, "auto", cores) == threads
    assert threads_per_device(num_devices, 3, cores) == 3, "as asked"


@pytest.mark.parametrize(
    ("found", "asked", "kind", "names"),
    [
        (0, 1, "cpu-virtual", ["cpu"]),
        (0, 3, "cpu-virtual", ["cpu", "cpu", "cpu"]),
        (1, 1, "cuda", ["cuda:0"]),
        (1, 2, "cuda-shared", ["cuda:0", "cuda:0"]),
        (2, 3, "cuda-shared", ["cuda:0", "cuda:1", "cuda:0"]),
        (8, 2, "cuda", ["cuda:0", "cuda:1"]),
    ],
)
def test_devices_are_gpus_if_any_and_shared_if_too_few(monkeypatch, found, asked, kind, names):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: found)
    got = resolve(asked, AUTO)
    assert (got.kind, [str(device) for device in got.devices]) == (kind, names)


@pytest.mark.parametrize(
    ("found", "kind", "count"), [(1, "cpu-virtual", 4), (2, "cuda", 2), (8, "cuda", 4)]
)
def test_ranks_share_no_gpu(monkeypatch, found, kind, count):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: found)
    got = for_ranks([2, 4], AUTO)
    assert (got.kind, len(set(got.devices)) if kind == "cuda" else len(got.devices)) == (
        kind,
        count,
    )


def test_resolving_devices_sets_torchs_threads(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    assert resolve(2, DeviceParams(cpu_threads=1)).threads == torch.get_num_threads() == 1


@pytest.mark.parametrize(
    ("cores", "quota", "omp_threads", "usable"),
    [
        (64, 0.5, "", 1),
        (64, 1.5, "", 1),
        (64, 2.0, "", 2),
        (64, float("inf"), "", 64),
        (8, float("inf"), "1", 1),
        (8, float("inf"), "3,1", 3),
        (8, float("inf"), "64", 8),
        (8, float("inf"), "0", 8),
        (8, float("inf"), "many", 8),
    ],
)
def test_quota_and_omp_threads_limit_the_cores(monkeypatch, cores, quota, omp_threads, usable):
    monkeypatch.setattr(limits, "quota_cores", lambda: quota)
    monkeypatch.setattr(limits, "allowed_cores", lambda: list(range(cores)))
    monkeypatch.setenv("OMP_NUM_THREADS", omp_threads)
    assert usable_cores() == usable


@pytest.mark.parametrize(
    ("precision", "convolutions", "products"),
    [("default", True, False), ("tf32", True, True), ("fp32", False, False)],
)
def test_tf32_is_allowed_where_the_precision_says_so(precision, convolutions, products):
    allow_tf32(precision)
    assert torch.backends.cudnn.allow_tf32 == convolutions
    assert torch.backends.cuda.matmul.allow_tf32 == products


@pytest.mark.parametrize(
    ("flags", "expected"), [("avx512f avx512_bf16", "bf16"), ("avx2 avx512f", "fp32")]
)
def test_bf16_if_fast_needs_the_cpus_bf16_instructions(monkeypatch, tmp_path, flags, expected):
    (tmp_path / "cpuinfo").write_text(f"model name : X\nflags : fpu {flags} sse\n")
    monkeypatch.setattr(torch_build, "CPUINFO", tmp_path / "cpuinfo")
    cpu = torch.device("cpu")
    assert devices.precision_on(cpu, "bf16_if_fast") == expected
    assert devices.precision_on(cpu, "bf16") == "bf16", "as asked"
