"""The state of GPUs that the driver reports, with a fake nvidia-smi."""

import pytest

from lab.tools.record.gpu_state import FIELDS, gpu_state

H200 = "NVIDIA H200, 570.86.15, P0, Default, Enabled, 1980, 1980, 3201, 3201, 74.51, 700.00, 31"


def test_clocks_power_and_others_load_are_reported_for_each_gpu(fake_nvidia_smi, tmp_path):
    fake_nvidia_smi(
        f'echo "$@" > {tmp_path}/asked\n'
        f'echo "{H200}, 0, 4, 143771"\necho "{H200}, 97, 60211, 143771"'
    )
    idle, busy = gpu_state()
    assert list(idle.values())[:3] == ["NVIDIA H200", "570.86.15", "P0"]
    assert (idle["clocks.sm"], idle["clocks.max.mem"], idle["power.limit"]) == (1980, 3201, 700)
    assert [each["utilization.gpu"] for each in (idle, busy)] == [0, 97]
    assert [each["memory.used"] for each in (idle, busy)] == [4, 60211]
    assert f"--query-gpu={','.join(FIELDS)} " in (tmp_path / "asked").read_text()


@pytest.mark.parametrize("line", ["exit 9", "echo 'No devices were found'"])
def test_without_a_working_nvidia_smi_there_is_no_state(fake_nvidia_smi, line):
    fake_nvidia_smi(line)
    assert gpu_state() is None


def test_fields_that_a_gpu_does_not_have_are_none(fake_nvidia_smi):
    fake_nvidia_smi('echo "A part of one, 570.86.15, [N/A]' + ", [N/A]" * (len(FIELDS) - 3) + '"')
    [part] = gpu_state()
    assert part == dict.fromkeys(FIELDS) | {"name": "A part of one", "driver_version": "570.86.15"}
