import json
from datetime import date

import pytest

from lab.core.errors import MachineError
from lab.core.files import write_json
from lab.machine import hardware, torch_build
from tests.helpers import python


def test_two_probes_in_two_processes_give_the_same_bytes(tmp_path):
    program = "import json; from lab.machine import hardware; print(json.dumps(hardware.facts()))"
    write_json(tmp_path / "other.json", json.loads(python("-c", program).stdout))
    write_json(tmp_path / "this.json", hardware.facts())
    assert (tmp_path / "other.json").read_bytes() == (tmp_path / "this.json").read_bytes()


@pytest.mark.parametrize("asked", [None, "default"])
def test_facts_found_without_torch_agree_with_torch(monkeypatch, asked):
    """A separate process finds them before it imports torch."""
    program = (
        "import json; from lab.machine import torch_build as found;"
        " ours = [found.cpu_capability(), found.build()['__version__'], found.build()['cuda']];"
        " asks = found.may_have_gpus(); import torch;"
        " theirs = [torch.backends.cpu.get_cpu_capability(), torch.__version__];"
        " theirs += [torch.version.cuda];"
        " print(json.dumps([ours, theirs, asks or torch.cuda.device_count() == 0]))"
    )
    monkeypatch.delenv("ATEN_CPU_CAPABILITY", raising=False)
    if asked:
        monkeypatch.setenv("ATEN_CPU_CAPABILITY", asked)
    ours, theirs, finds_all_gpus = json.loads(python("-c", program).stdout)
    assert ours == theirs
    assert finds_all_gpus


@pytest.mark.parametrize("name", torch_build.LIMITS)
def test_a_limit_on_a_librarys_instructions_is_recorded_with_the_machine(monkeypatch, name):
    for each in torch_build.LIMITS:
        monkeypatch.delenv(each, raising=False)
    free = hardware.facts()
    assert free["cpu"]["instructions"] == torch_build.cpu_capability(), "as ever without a limit"
    monkeypatch.setenv(name, "SSE41")
    limited = hardware.facts()
    assert f"{name}=SSE41" in limited["cpu"]["instructions"]
    assert limited | {"cpu": free["cpu"]} == free


@pytest.mark.parametrize(
    ("flags", "instructions"),
    [
        ("fpu sse2", "DEFAULT"),
        ("avx avx2", "DEFAULT"),
        ("avx2 fma", "AVX2"),
        ("avx2 fma avx512f", "AVX2"),
        ("avx2 fma avx512f avx512vl avx512bw avx512dq", "AVX512"),
    ],
)
def test_instructions_follow_from_a_processors_flags(monkeypatch, tmp_path, flags, instructions):
    """Expected values follow ATen's source (compute_cpu_capability)."""
    (tmp_path / "cpuinfo").write_text(f"model name\t: A  CPU\nflags\t\t: {flags}\n")
    monkeypatch.setattr(torch_build, "CPUINFO", tmp_path / "cpuinfo")
    monkeypatch.setattr(torch_build.platform, "machine", lambda: "x86_64")
    monkeypatch.delenv("ATEN_CPU_CAPABILITY", raising=False)
    assert torch_build.cpu_capability() == instructions
    assert torch_build.cpu_model() == "A CPU"


def test_a_clock_that_would_date_results_before_the_rules_is_an_error(monkeypatch):
    class In1970(date):
        @classmethod
        def today(cls):
            return cls(1970, 1, 1)

    monkeypatch.setattr(hardware, "date", In1970)
    with pytest.raises(MachineError, match="the clock says 1970-01-01"):
        hardware.facts()
