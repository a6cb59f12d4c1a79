"""What becomes of a GPU's failures. There is no GPU to break: torch's words are made up."""

import sys
from pathlib import Path

import pytest
import torch

from lab.core.errors import MachineError
from lab.core.exit_codes import run
from lab.core.params import load
from lab.machine import hardware
from lab.machine.gpu_errors import gpu_errors
from lab.timing.fresh_starts import measure_in_starts
from stages.train import one_run
from stages.train.params import Params
from tests.helpers import edit_params, small_run, write_data

LOST = "CUDA error: uncorrectable ECC error encountered\nCUDA kernel errors might be reported late"
OLD_DRIVER = "CUDA driver version is insufficient for CUDA runtime version"
PROGRAM = f"""
def measure(start):
    raise RuntimeError({LOST!r})
"""


@pytest.mark.faults("T25")
@pytest.mark.parametrize("words", [LOST, OLD_DRIVER])
def test_a_failure_is_one_line_that_names_the_gpus(words):
    with pytest.raises(MachineError) as error, gpu_errors("cuda:0, cuda:1"):
        raise RuntimeError(words)
    assert str(error.value).startswith(f"cuda:0, cuda:1: {words.splitlines()[0]}; ")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "words", ["shapes do not fit", "CUDA error: out of memory", "CUDA out of memory. Tried"]
)
def test_what_is_no_failure_of_a_gpu_stays_what_it_is(words):
    with pytest.raises(RuntimeError, match=words), gpu_errors():
        raise RuntimeError(words)


@pytest.mark.faults("T25")
def test_a_start_whose_gpu_fails_ends_the_benchmark_with_that(tmp_path, monkeypatch):
    (tmp_path / "on_a_lost_gpu.py").write_text(PROGRAM)
    monkeypatch.syspath_prepend(tmp_path)
    import on_a_lost_gpu  # type: ignore[import-not-found]

    with pytest.raises(MachineError, match="a GPU: CUDA error: uncorrectable ECC"):
        measure_in_starts(on_a_lost_gpu, 2)
    del sys.modules["on_a_lost_gpu"]


@pytest.mark.faults("T25")
def test_a_training_whose_gpu_is_lost_ends_with_4_and_names_it(project: Path, monkeypatch, capsys):
    write_data(project / "data", train=600, test=100)
    edit_params({"train.runs": {"lost": small_run()}})

    def lose(*arguments: object, **more: object) -> None:
        raise RuntimeError(LOST)

    monkeypatch.setattr(one_run, "train_with_checkpoints", lose)
    monkeypatch.setattr(one_run, "Watch", lambda: None)
    assert run(lambda: one_run.train_run("lost", load(Params))) == 4
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("ERROR: cpu: CUDA error: uncorrectable ECC error encountered; ")


@pytest.mark.faults("T25")
def test_gpus_of_different_kinds_are_recorded_one_by_one(monkeypatch):
    class Large:
        name, total_memory = "NVIDIA H200", 150_000_000_000

    class Small:
        name, total_memory = "NVIDIA T4", 16_000_000_000

    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda i: (Large, Small)[i])
    found = hardware.facts()["accelerator"]
    assert (found["names"], found["memory_gib"]) == (["NVIDIA H200", "NVIDIA T4"], [140, 15])
