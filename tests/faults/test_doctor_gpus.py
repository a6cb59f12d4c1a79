"""GPUs that the lab cannot use as they are: one line each, and the command that mends it.

There is no GPU: a made-up nvidia-smi answers for two, in the words of the real one, and obeys.
"""

import os
import sys
from itertools import count
from pathlib import Path

import pytest
import torch
from torch import Tensor

from lab.machine.answers import ask
from lab.machine.gpus import driver
from lab.tools.doctor import gpu_trial, gpus
from lab.tools.doctor.finding import Finding
from tests.faults.doctor_states import obey

WELL = {
    "index": ["0", "1"],
    "name": ["NVIDIA H200"] * 2,
    "driver_version": ["570.86.15"] * 2,
    "compute_mode": ["Default"] * 2,
    "mig.mode.current": ["Disabled"] * 2,
    "utilization.gpu": ["0", "0"],
    "memory.used": ["0", "520"],
    "memory.total": ["143771"] * 2,
    "power.limit": ["700.00"] * 2,
    "power.default_limit": ["700.00"] * 2,
    "clocks_throttle_reasons.active": ["0x0000000000000001"] * 2,  # nothing to do
}
# each answer is in a file; a field without one is none of this driver's
NVIDIA_SMI = """\
#!/bin/bash
cd "{folder}"
while [ $# -gt 0 ]; do case "$1" in
    --query-gpu=*) fields=${{1#*=}} ;;
    -i) gpu=$2; shift ;;
    --gpu-reset) sed -i "$((gpu + 1))s/.*/0/" utilization.gpu; exit ;;
    -c) sed -i "$((gpu + 1))s/.*/Default/" compute_mode; exit ;;
    -pl) sed -i "$((gpu + 1))s/.*/$2/" power.limit; exit ;;
    -rac) sed -i "$((gpu + 1))s/.*/0x0/" clocks_throttle_reasons.active; exit ;;
esac; shift; done
IFS=, read -ra names <<< "$fields"
for name in "${{names[@]}}"; do
    [ -f "$name" ] || {{ echo "Field \\"$name\\" is not a valid field to query."; exit 2; }}
done
paste -d, "${{names[@]}}" | sed 's/,/, /g'
"""


def program(name: str, text: str) -> None:
    """Put a program first on PATH."""
    folder = Path.cwd() / "programs"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)
    os.environ["PATH"] = f"{folder}:{os.environ['PATH'].removeprefix(f'{folder}:')}"


@pytest.fixture
def two_gpus(copy: Path) -> Path:
    """A machine with two, as its driver tells; where the answers are."""
    folder = copy / "answers"
    folder.mkdir()
    for field in WELL:
        say(folder, field)
    program("nvidia-smi", NVIDIA_SMI.format(folder=folder))
    program("sudo", '#!/bin/sh\nexec "$@"\n')
    return folder


def say(folder: Path, field: str, *values: str) -> None:
    (folder / field).write_text("\n".join(values or WELL[field]) + "\n")


def states() -> list[Finding]:
    return list(gpus.gpus())


STATES: list[tuple[str, tuple[str, str], str, str, str]] = [
    (
        "compute_mode",
        ("Default", "Exclusive_Process"),
        "FAIL",
        "GPU 1 is in mode Exclusive_Process",
        "sudo nvidia-smi -i 1 -c DEFAULT",
    ),
    (
        "memory.used",
        ("72000", "520"),
        "warn",
        "GPU 0: others have 70.3 of 140.4 GiB of its memory and 0 % of its time",
        "nvidia-smi",
    ),
    (
        "utilization.gpu",
        ("3", "98"),
        "warn",
        "GPU 1: others have 0.5 of 140.4 GiB of its memory and 98 % of its time",
        "nvidia-smi",
    ),
    (
        "clocks_throttle_reasons.active",
        ("0x0000000000000001", "0x0000000000000064"),
        "warn",
        "GPU 1's clocks are held down by the limit of its power, its heat, its heat, to half",
        "nvidia-smi -i 1 -q -d PERFORMANCE,TEMPERATURE,POWER",
    ),
    (
        "clocks_throttle_reasons.active",
        ("0x0000000000000002", "Not Supported"),
        "note",
        "GPU 0's clocks were set by hand",
        "sudo nvidia-smi -i 0 -rac",
    ),
    (
        "power.limit",
        ("700.00", "350.00"),
        "note",
        "GPU 1 may take 350 W instead of 700",
        "sudo nvidia-smi -i 1 -pl 700",
    ),
    ("mig.mode.current", ("Enabled", "[N/A]"), "note", "GPU 0 is cut into parts (MIG)", ""),
    (
        "utilization.gpu",
        ("0", "[GPU requires reset]"),
        "FAIL",
        "GPU 1 does not work: [GPU requires reset]",
        "sudo nvidia-smi -i 1 --gpu-reset",
    ),
]


@pytest.mark.parametrize(
    ("field", "values", "level", "words", "command"),
    STATES,
    ids=["exclusive", "memory", "busy", "throttled", "set by hand", "power", "parts", "broken"],
)
def test_each_state_is_a_line_and_its_command_mends_it(
    two_gpus, field, values, level, words, command
):
    assert [str(f) for f in states()] == ["2 GPU(s), NVIDIA H200, driver 570.86.15"]
    say(two_gpus, field, *values)
    [finding] = [f for f in states() if f.level != "ok"]
    assert (finding.level, finding.command) == (level, command)
    assert words in finding.text
    if command.startswith("sudo"):
        obey(finding)
        assert [f.level for f in states()] == ["ok"]


def test_what_a_driver_does_not_know_is_no_fault(two_gpus):
    """Parts of GPUs and desktop cards lack most of it; a newer driver has another name for it."""
    for field in list(WELL)[4:-1]:
        say(two_gpus, field, "[N/A]", "[Not Supported]")
    (two_gpus / "clocks_throttle_reasons.active").rename(two_gpus / "clocks_event_reasons.active")
    assert [f.level for f in states()] == ["ok"]
    say(two_gpus, "clocks_event_reasons.active", "0x8", "0x0")
    assert "GPU 0's clocks are held down by the board" in states()[0].text
    (two_gpus / "clocks_event_reasons.active").unlink()
    assert [f.level for f in states()] == ["ok"], "a driver that has neither"


@pytest.mark.parametrize(
    ("said", "words", "command"),
    [
        (
            "echo 'Failed to initialize NVML: Driver/library version mismatch'; exit 18",
            "nvidia-smi ends with exit code 18: Failed to initialize NVML: Driver/library version",
            "sudo reboot",
        ),
        (
            "echo 'Unable to determine the device handle for GPU0000:01:00.0: GPU is lost.' >&2"
            "; exit 15",
            "GPU is lost.",
            "sudo reboot",
        ),
        ("echo 'No devices were found'; exit 6", "No devices were found", "nvidia-smi"),
        ("echo 'Insufficient Permissions'", "says: Insufficient Permissions", "nvidia-smi"),
        ("kill -SEGV $$", "nvidia-smi ends in SIGSEGV", "nvidia-smi"),
    ],
    ids=["updated", "lost", "none", "a sentence", "crash"],
)
def test_a_driver_that_does_not_answer_says_why(copy, said, words, command):
    program("nvidia-smi", f"#!/bin/sh\n{said}\n")
    [finding] = states()
    assert words in finding.text and finding.command == command
    assert len(str(finding).splitlines()) == 1


def test_a_driver_that_hangs_does_not_stop_the_doctor(copy, monkeypatch, within):
    """Also where it is deaf to signals, and where what it started holds its output open."""
    monkeypatch.setattr(gpus, "QUERY_S", 0.2)
    program("nvidia-smi", "#!/bin/sh\ntrap '' TERM INT\nsleep 20 &\nwait\n")
    with within(15):
        [finding] = states()
    assert (finding.level, finding.command) == ("FAIL", "sudo reboot")
    assert "nvidia-smi does not end within 0.2 s: the driver hangs" in finding.text


def test_hidden_gpus_are_not_asked_for_and_visible_ones_alone(two_gpus, monkeypatch):
    asked = []
    monkeypatch.setattr(driver, "ask", lambda words, seconds: asked.append(words) or ask("true", 9))
    for visible, words in (("", []), ("-1", []), ("1", ["--id=1"]), ("GPU-5a", ["--id=GPU-5a"])):
        asked.clear()
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
        states()
        assert [word for line in asked for word in line if "--id" in word][:1] == words, visible


TWO = [torch.device("cpu"), torch.device("cpu")]


def flip(arrived: Tensor, before: Tensor, call: int) -> None:
    arrived[-1] ^= 1


def nothing_comes(arrived: Tensor, before: Tensor, call: int) -> None:
    arrived[:] = before


def second_alone(arrived: Tensor, before: Tensor, call: int) -> None:
    arrived[: 4096 * call] = 0


@pytest.mark.parametrize(
    ("planted", "expected"),
    [(None, [0, 0]), (flip, [1, 1]), (nothing_comes, [2**16] * 2), (second_alone, [0, 4096])],
)
def test_copies_that_arrive_changed_are_counted(monkeypatch, one_thread, planted, expected):
    """On [cpu, cpu]: as they are, with one wrong bit, never made, and wrong in one direction."""
    monkeypatch.setattr(gpu_trial, "COPIED_BYTES", 2**16)
    calls, real = count(), Tensor.copy_

    def copy_(self: Tensor, source: Tensor) -> Tensor:
        before = self.clone()
        real(self, source)
        planted(self, before, next(calls))
        return self

    if planted:
        monkeypatch.setattr(Tensor, "copy_", copy_)
    wrong = [step["wrong"] for step in gpu_trial.trial(TWO) if "wrong" in step]
    assert all(0.99 * n <= w <= n for n, w in zip(expected, wrong, strict=True)), (
        "of random bytes one in 256 is 0"
    )


def test_a_gpu_that_does_not_compute_is_named_and_the_others_are_tried(monkeypatch):
    """In torch's words for a GPU that another process has for itself."""
    busy = "CUDA error: CUDA-capable device(s) is/are busy or unavailable\nCUDA kernel errors"
    real = gpu_trial.computed

    def computed(device: torch.device) -> gpu_trial.Step:
        if device.type == "meta":
            raise RuntimeError(busy)
        return real(device)

    monkeypatch.setattr(gpu_trial, "computed", computed)
    monkeypatch.setattr(gpu_trial, "COPIED_BYTES", 2**8)
    steps = list(gpu_trial.trial([TWO[0], torch.device("meta"), TWO[1]]))
    [failure] = [step for step in steps if "failure" in step]
    assert failure["failure"].startswith("meta: CUDA error: CUDA-capable device(s) is/are busy")
    assert "`sudo nvidia-smi -c DEFAULT`" in failure["failure"]
    assert failure["exit_code"] == 4
    assert len([step for step in steps if "wrong" in step]) == 2


def test_a_copy_that_fails_is_named_and_the_others_are_made(monkeypatch):
    words = iter(["CUDA error: peer access is not supported between these two devices\nCUDA"])

    def copied(source: torch.device, target: torch.device) -> gpu_trial.Step:
        for each in words:
            raise RuntimeError(each)
        return {"wrong": 0}

    monkeypatch.setattr(gpu_trial, "copied", copied)
    _, failure, _, well = list(gpu_trial.trial(TWO))[4:]
    assert failure["failure"].startswith("cpu to cpu: CUDA error: peer access is not supported")
    assert well == {"wrong": 0}


SAYS = """
import json, sys, os, time
for step in {steps}: print(json.dumps(step), flush=True)
{end}
"""


@pytest.mark.parametrize(
    ("steps", "end", "line"),
    [
        (
            [{"compute": "cuda:0"}, {"compute": "cuda:1"}, {"wrong": 0}],
            "",
            "2 GPU(s) compute, and copy to each other without a wrong byte",
        ),
        ([{"compute": "cuda:0"}], "", "1 GPU(s) compute"),
        (
            [{"source": "cuda:0", "target": "cuda:1", "wrong": 9}],
            "",
            "what is copied from cuda:0 to cuda:1 arrives changed: what trains on several would be"
            " wrong; see PCIe's ACS and the IOMMU in the BIOS, or use one GPU;"
            " `export CUDA_VISIBLE_DEVICES=0`",
        ),
        ([{"failure": "cuda:0: lost; see it", "exit_code": 4}], "", "cuda:0: lost; see it"),
        (
            [{"doing": "computing on cuda:0"}],
            "os.abort()",
            "the trial of the GPUs ends in SIGABRT, at computing on cuda:0;"
            " `sudo dmesg | tail -50`",
        ),
        (
            [{"doing": "computing on cuda:0"}],
            "raise ValueError('odd')",
            "the trial of the GPUs ends with exit code 1, at computing on cuda:0: ValueError: odd;"
            " `sudo dmesg | tail -50`",
        ),
        (
            [{"compute": "cuda:0"}, {"doing": "copying from cuda:0 to cuda:1"}],
            "time.sleep(60)",
            "the trial of the GPUs does not end within 1 s, at copying from cuda:0 to cuda:1;"
            " `sudo dmesg | tail -50`",
        ),
    ],
    ids=["well", "one", "changed", "failure", "crash", "error", "hang"],
)
def test_what_the_trial_finds_is_a_line_wherever_it_ends(copy, monkeypatch, steps, end, line):
    program("nvidia-smi", "#!/bin/sh\n")
    trial = (sys.executable, "-c", SAYS.format(steps=steps, end=end))
    monkeypatch.setattr(gpus, "TRIAL", trial)
    monkeypatch.setattr(gpus, "TRIAL_S", 1 if "sleep" in end else 60)
    assert [str(f) for f in gpus.computing_and_copying()] == [line]


@pytest.mark.skipif(torch.cuda.device_count() > 0, reason="there is a GPU")
def test_without_a_gpu_there_is_nothing_to_try(copy, monkeypatch, capsys):
    gpu_trial.main()
    assert capsys.readouterr().out == ""
    assert gpus.TRIAL[-1] == gpu_trial.__name__
    monkeypatch.setattr(gpus, "DRIVER", Path("no/driver"))
    assert (list(gpus.gpus()), list(gpus.computing_and_copying())) == ([], [])
