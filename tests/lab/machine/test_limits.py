"""Quotas and throttling from made-up cgroup files; affinity from a real process."""

from pathlib import Path

import psutil
import pytest

from lab.machine.limits import cgroup_folders, memory_bytes, quota_cores, throttled_seconds
from tests.helpers import python


def cgroup(folder: Path, cpu_max: str = "", cpu_stat: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cpu.max").write_text(cpu_max)
    (folder / "cpu.stat").write_text(cpu_stat)
    return folder


@pytest.mark.parametrize(
    ("cpu_max", "cores"),
    [
        ("50000 100000\n", 0.5),
        ("200000 100000\n", 2),
        ("max 100000\n", float("inf")),
        ("", float("inf")),
        ("5 0\n", float("inf")),
    ],
)
def test_a_quota_is_a_share_of_its_period(tmp_path, cpu_max, cores):
    assert quota_cores([cgroup(tmp_path, cpu_max)]) == cores


def test_the_smallest_quota_of_a_cgroup_and_its_ancestors_counts(tmp_path):
    """systemd sets one for a user's session, a container one for itself."""
    own = tmp_path / "own"
    own.write_text("12:memory:/elsewhere\n0::/user.slice/session.scope\n")
    inner = cgroup(tmp_path / "user.slice" / "session.scope", "max 100000")
    cgroup(tmp_path / "user.slice", "150000 100000")
    assert cgroup_folders("cpu", tmp_path, own) == [inner, tmp_path / "user.slice", tmp_path]
    assert quota_cores(cgroup_folders("cpu", tmp_path, own)) == 1.5
    own.write_text("0::/a/hosts/path/that/the/container/does/not/have\n")
    cgroup(tmp_path, "100000 100000")
    assert quota_cores(cgroup_folders("cpu", tmp_path, own)) == 1


@pytest.mark.parametrize(
    ("mounted", "line"),
    [
        ("cpu", "1:cpu:/"),
        ("cpu,cpuacct", "4:cpu,cpuacct:/"),
        ("cpu", "4:cpuacct,cpu:/"),  # through a link of that name
    ],
)
def test_cgroups_of_version_1_have_their_own_quota_files(tmp_path, mounted, line):
    """The tree of such a machine, along with a version 2 without controllers."""
    own = tmp_path / "own"
    own.write_text(f"9:name=systemd:/\n8:cpuset:/\n4:memory:/job\n{line}batch/job\n0::/\n")
    top = tmp_path / mounted
    inner = cgroup_of_version_1(top / "batch" / "job", -1)
    batch = cgroup_of_version_1(top / "batch", 50_000, throttled_ns=1_500_000_000)
    cgroup_of_version_1(top, -1)
    (tmp_path / "cpu.stat").write_text("usage_usec 9\n")
    folders = cgroup_folders("cpu", tmp_path, own)
    assert [inner, batch, top] == [each for each in folders if each != tmp_path]
    assert quota_cores(folders) == 0.5
    assert throttled_seconds(folders) == 1.5


def cgroup_of_version_1(folder: Path, quota_us: int, throttled_ns: int = 0) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cpu.cfs_quota_us").write_text(f"{quota_us}\n")
    (folder / "cpu.cfs_period_us").write_text("100000\n")
    counts = f"nr_periods 30\nnr_throttled 20\nthrottled_time {throttled_ns}\n"
    (folder / "cpu.stat").write_text(counts)
    return folder


@pytest.mark.parametrize(
    ("name", "line"), [("memory.max", "0::/job"), ("memory.limit_in_bytes", "4:memory:/job")]
)
def test_the_smallest_memory_limit_of_machine_and_cgroups_counts(tmp_path, name, line):
    own, top = tmp_path / "own", tmp_path / ("memory" if ":memory" in line else ".")
    own.write_text(f"1:cpu:/other\n{line}\n")
    (top / "job").mkdir(parents=True)
    (top / "job" / name).write_text("max\n" if name == "memory.max" else f"{2**63 - 4096}\n")
    whole = psutil.virtual_memory().total
    assert memory_bytes([]) == memory_bytes(cgroup_folders("memory", tmp_path, own)) == whole
    (top / name).write_text("1048576\n")
    assert memory_bytes(cgroup_folders("memory", tmp_path, own)) == 2**20


def test_without_cgroups_there_is_no_quota(tmp_path):
    assert cgroup_folders("cpu", tmp_path, tmp_path / "none") == []
    assert quota_cores([]) == quota_cores([tmp_path]) == float("inf")
    assert throttled_seconds([tmp_path]) == 0


def test_throttled_time_is_summed_over_cgroups(tmp_path):
    counts = "usage_usec 9\nnr_periods 30\nnr_throttled 20\nthrottled_usec 1500000\n"
    folders = [cgroup(tmp_path / name, cpu_stat=counts) for name in "ab"]
    assert throttled_seconds(folders) == 3
    assert throttled_seconds([cgroup(tmp_path, cpu_stat="no numbers")]) == 0


@pytest.mark.skipif(not hasattr(psutil.Process, "cpu_affinity"), reason="no affinity here")
def test_a_process_pinned_to_a_core_may_use_one():
    hold = "import psutil; me = psutil.Process(); me.cpu_affinity(me.cpu_affinity()[:1]);"
    ask = "from lab.machine.limits import allowed_cores; print(len(allowed_cores()))"
    assert python("-c", hold + ask).stdout == "1\n"


@pytest.mark.slow
def test_an_openmp_binding_in_the_environment_costs_no_core_and_no_thread():
    """Clusters' modules set these variables; torch would pin itself by them on import."""
    program = (
        "import os; from lab.machine.limits import usable_cores; cores = usable_cores();"
        "import torch; torch.set_num_threads(2); before = len(os.listdir('/proc/self/task'));"
        "x = torch.ones(2**22).add_(1); print(cores, usable_cores());"
        "print(len(os.listdir('/proc/self/task')) - before)"
    )
    binding = {
        **{"OMP_PROC_BIND": "close", "OMP_PLACES": "{0}", "GOMP_CPU_AFFINITY": "0"},
        **{"OMP_THREAD_LIMIT": "1", "OMP_MAX_ACTIVE_LEVELS": "0", "OMP_DYNAMIC": "true"},
    }
    assert python("-c", program, **binding).stdout == python("-c", program).stdout
