"""How GPU failures are reported. There is no GPU to break: torch's messages are canned."""

import importlib
import warnings
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
import torch

from lab.core.errors import MachineError, SpaceError
from lab.core.gpu_errors import gpu_errors
from lab.core.params import load
from lab.core.process import run
from lab.core.shared_params import DeviceParams
from lab.machine import hardware
from lab.machine.devices import for_ranks, resolve
from lab.timing.runner import measure_in_processes
from lab.training.steps import replicas
from stages.train.measure import one_run
from stages.train.measure.params import Params
from tests.helpers import edit_params, small_run, write_data
from tests.made_up import EvenWatch

AUTO = DeviceParams(cpu_threads="auto")
LOST = "CUDA error: uncorrectable ECC error encountered\nCUDA kernel errors might be reported late"
BUSY = "CUDA error: CUDA-capable device(s) is/are busy or unavailable\nCUDA kernel errors"
UNKNOWN = "CUDA unknown error - this may be due to an incorrectly set up environment, e.g. changing"
TOO_OLD = (
    "The NVIDIA driver on your system is too old (found version 12020). Please update your GPU"
    " driver by downloading and installing a new version from the URL: http://www.nvidia.com"
)
NOT_STARTED = (
    "Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling"
    " NumCudaDevices() that might have already set an error? Error 802: system not yet initialized"
)
TAKEN = (
    "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.10 GiB of"
    " which 1.06 GiB is free. Process 77 has 70.00 GiB memory in use. Of the allocated memory 1.00"
    " GiB is allocated by PyTorch, and 9.00 MiB is reserved by PyTorch but unallocated. If reserved"
)
SHOWN = TAKEN.partition(". Of the allocated")[0]
FREE = "use a smaller batch or profile, or wait until others have left it (`nvidia-smi`)"
NO_DRIVER = "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU"


FAILURES = {  # torch's message, the part shown, and the advice
    "lost": (LOST, LOST.splitlines()[0], "the same command resumes"),
    "unknown": (UNKNOWN, UNKNOWN, "`dmesg` show more"),
    "taken": (BUSY, BUSY.splitlines()[0], "another process has exclusive use of it"),
    "old driver": (TOO_OLD, TOO_OLD.partition(". ")[0], "update the driver, or take another build"),
    "old runtime": ("CUDA driver version is insufficient for CUDA runtime", "CUDA", "update the"),
    "not started": (NOT_STARTED, "Error 802: system not yet initial", "start nvidia-fabricmanager"),
    "no code": ("CUDA error: no kernel image is available for", "CUDA", "too old or too new"),
    "cuDNN": ("cuDNN error: CUDNN_STATUS_EXECUTION_FAILED", "cuDNN error", "`nvidia-smi`"),
    "no driver": (NO_DRIVER, NO_DRIVER.partition(". ")[0], "`nvidia-smi`"),
    "NVML": ('NVML_SUCCESS == r INTERNAL ASSERT FAILED at "CU', "NVML_SUCCESS", "the same command"),
    "full, torch": (TAKEN, SHOWN, FREE),
    "full, driver": ("CUDA error: out of memory\nCUDA kernel", "CUDA error: out of memory", FREE),
    "full, cuBLAS": ("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling", "CUDA ", FREE),
    "full, DataParallel": (f"Caught in replica 1\nTrace\ntorch.OfError: {TAKEN}", SHOWN, FREE),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_is_one_line_that_names_the_gpus_and_says_what_to_do(name):
    words, shown, todo = FAILURES[name]
    kind = SpaceError if todo is FREE else MachineError
    with pytest.raises(kind) as error, gpu_errors("cuda:0, cuda:1"):
        raise RuntimeError(words)
    message = str(error.value)
    assert message.startswith(f"cuda:0, cuda:1: {shown}") and todo in message.partition("; ")[2]
    assert "\n" not in message and "Please" not in message


@pytest.mark.parametrize("words", ["shapes do not fit", "can't allocate memory: you tried to"])
def test_other_errors_pass_through_unchanged(words):
    with pytest.raises(RuntimeError, match=words), gpu_errors("cuda:0"):
        raise RuntimeError(words)


@pytest.mark.parametrize(("words", "kind"), [(LOST, MachineError), (TAKEN, SpaceError)])
def test_a_process_whose_gpu_fails_ends_the_benchmark_with_that_error(
    tmp_path, monkeypatch, words, kind
):
    module = f"on_a_gpu_with_{kind.__name__}"  # the fork server caches its imports
    (tmp_path / f"{module}.py").write_text(f"def measure(n):\n    raise RuntimeError({words!r})")
    monkeypatch.syspath_prepend(tmp_path)
    measure = importlib.import_module(module).measure
    with pytest.raises(kind, match=r"a GPU: CUDA (error: uncorrectable ECC|out of memory\. Tried)"):
        measure_in_processes("a benchmark", 2, measure)


def test_a_run_that_loses_its_gpu_resumes_from_its_checkpoint(
    project: Path, monkeypatch, capsys, one_thread
):
    """It fails three times in epoch 2 of 2, and ends with the undisturbed run's bits."""
    write_data(project / "data", train=600, test=100)
    edit_params({"train.runs": {"whole": small_run(), "lost": small_run()}})
    monkeypatch.setattr(one_run, "LoadMonitor", EvenWatch)
    params, whole_step = load(Params), replicas.train_batch
    assert run(lambda: one_run.train_run("whole", params)) == 0
    for words, code in ((LOST, 4), (UNKNOWN, 4), (TAKEN, 8)):
        steps = count(0 if words == LOST else 3)  # later tries resume where the first ended

        def step(
            *given: object, words: str = words, steps: Iterator[int] = steps, **named: object
        ) -> object:
            if next(steps) == 4:
                raise RuntimeError(words)
            return whole_step(*given, **named)

        capsys.readouterr()
        with monkeypatch.context() as planted:
            planted.setattr(replicas, "train_batch", step)
            assert run(lambda: one_run.train_run("lost", params)) == code
        [line] = [line for line in capsys.readouterr().err.splitlines() if "ERROR" in line]
        assert line.startswith(f"ERROR: cpu: {words.splitlines()[0][:40]}")
        [checkpoint] = Path(".lab/checkpoints").glob("*/*.pt")
        assert checkpoint.name.startswith("00001-00000-")
    assert run(lambda: one_run.train_run("lost", params)) == 0
    assert Path("models/lost.pt").read_bytes() == Path("models/whole.pt").read_bytes()


def has_cuda_build(monkeypatch, words: str) -> None:
    """Make torch a CUDA build that can use no GPU and says `words`."""

    def fail() -> None:
        raise RuntimeError(words)

    monkeypatch.setattr(hardware, "may_have_gpus", lambda: True)
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: warnings.warn(words, stacklevel=1))
    monkeypatch.setattr(torch.cuda, "init", fail)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


@pytest.mark.parametrize("counted", [0, 2], ids=["by the driver: none", "two"])
def test_an_unusable_driver_is_an_error_and_not_a_machine_without_gpus(
    monkeypatch, counted, recwarn
):
    """torch only warns, and counts the GPUs that the driver's library lists, or none."""
    has_cuda_build(monkeypatch, TOO_OLD)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: counted)
    for ask in (lambda: resolve(2, AUTO), lambda: for_ranks([1, 2], AUTO), hardware.facts):
        with pytest.raises(MachineError) as error:
            ask()
        assert str(error.value) == (
            f"torch {torch.__version__}, built for CUDA 13.0, can use no GPU here: The NVIDIA"
            " driver on your system is too old (found version 12020); update the driver, or take"
            " another build of torch (pytorch.org, “Start locally”), or"
            " `export CUDA_VISIBLE_DEVICES=` to do without"
        )
    assert TOO_OLD not in [str(each.message) for each in recwarn], "the error says it"


def test_a_run_uses_the_cpu_if_there_is_no_gpu_or_none_is_wanted(monkeypatch, one_thread):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    for words in (NO_DRIVER, "No CUDA GPUs are available"):
        has_cuda_build(monkeypatch, words)
        assert resolve(2, AUTO).kind == "cpu-virtual"
    for hidden in ("", "-1"):
        has_cuda_build(monkeypatch, TOO_OLD)
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", hidden)
        assert resolve(2, AUTO).kind == "cpu-virtual"
    has_cuda_build(monkeypatch, TOO_OLD)
    monkeypatch.setattr(torch.version, "cuda", None)
    assert resolve(2, AUTO).kind == "cpu-virtual", "a build for the processor asks no driver"


def test_gpus_of_different_kinds_are_recorded_one_by_one(monkeypatch):
    class Large:
        name, total_memory = "NVIDIA H200", 150_000_000_000

    class Small:
        name, total_memory = "NVIDIA T4", 16_000_000_000

    monkeypatch.setattr(hardware, "may_have_gpus", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda i: (Large, Small)[i])
    found = hardware.facts()["accelerator"]
    assert (found["names"], found["memory_gib"]) == (["NVIDIA H200", "NVIDIA T4"], [140, 15])
