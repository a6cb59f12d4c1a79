"""Traces of torch's profiler, kept and told."""

import gzip
import json
import os

import torch
from torch.autograd.profiler import profile

from lab.tools.record import traces
from lab.tools.record.traces import collect, longest_ms


def event(category: str, name: str, ts: float, dur: float) -> dict[str, object]:
    return {"ph": "X", "cat": category, "name": name, "ts": ts, "dur": dur}


EVENTS = [
    event("cpu_op", "aten::mm", 0, 400),
    event("cpu_op", "aten::add", 500, 100),
    event("cuda_runtime", "cudaLaunchKernel", 0, 5000),
    event("kernel", "gemm", 100, 200),
    event("kernel", "gemm", 250, 100),
    event("gpu_memcpy", "copy", 260, 20),
    event("kernel", "add" * 100, 900, 100),
    {"ph": "M", "name": "process_name", "args": {"name": "python"}},
]


def test_the_longest_of_what_the_gpu_ran_are_told():
    told = longest_ms([*EVENTS, event("kernel", "short", 990, 10), event("kernel", "relu", 0, 30)])
    assert list(told.items()) == [("gemm", 0.3), ("add" * 40, 0.1), ("relu", 0.03)]
    assert longest_ms(EVENTS[:3]) == {}


def test_a_profilers_trace_is_kept_and_one_too_long_or_damaged_is_not(tmp_path):
    made, kept = tmp_path / "made", tmp_path / "kept"
    made.mkdir()
    a = torch.rand(8, 8)
    with profile(use_kineto=True) as trace:
        for _ in range(3):
            (a @ a).relu()
    trace.export_chrome_trace(str(made / "lenet-engine.json"))
    whole = (made / "lenet-engine.json").read_bytes()
    (made / "cut.json").write_bytes(whole[:-20])
    noise = os.urandom(traces.MOST_BYTES).hex()
    (made / "long.json").write_text(json.dumps({"traceEvents": EVENTS, "noise": noise}))
    found = collect(made, kept)
    assert found["lenet-engine"] == {"longest_ms": {}}
    assert found["cut"] == {"left_out": "damaged"}
    assert found["long"]["longest_ms"]["gemm"] == 0.3, "it is told"
    assert found["long"]["left_out"].endswith(f"at most {traces.MOST_BYTES} are kept")
    [copy] = kept.iterdir()
    assert copy.name == "lenet-engine.json.gz"
    assert gzip.decompress(copy.read_bytes()) == whole
