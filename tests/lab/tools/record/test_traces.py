"""Traces of torch's profiler, kept and told."""

import gzip
import json
import os

import torch
from torch.autograd.profiler import profile

from lab.tools.record import traces
from lab.tools.record.traces import collect, summary


def event(category: str, name: str, ts: float, dur: float) -> dict[str, object]:
    return {"ph": "X", "cat": category, "name": name, "ts": ts, "dur": dur}


EVENTS = [
    event("cpu_op", "aten::mm", 0, 400),
    event("cpu_op", "aten::add", 500, 100),
    event("cuda_runtime", "cudaLaunchKernel", 0, 5000),  # the span is that of operations alone
    event("kernel", "gemm", 100, 200),
    event("kernel", "gemm", 250, 100),  # 50 of it beside the first
    event("gpu_memcpy", "copy", 260, 20),  # within the second
    event("kernel", "add" * 100, 900, 100),
    {"ph": "M", "name": "process_name", "args": {"name": "python"}},
]


def test_a_summary_counts_operations_and_the_time_in_which_the_gpu_runs_any():
    told = summary(EVENTS)
    assert (told["host_operations"], told["gpu_operations"]) == (2, 4)
    assert told["gpu_busy_percent"] == 35.0, "100 to 350 and 900 to 1000, of 0 to 1000"
    assert next(iter(told["longest_ms"].items())) == ("gemm", 0.3)
    assert max(map(len, told["longest_ms"])) == traces.LONGEST_NAME
    assert summary(EVENTS[:2]) == {"host_operations": 2, "gpu_operations": 0}


def test_a_profilers_trace_is_kept_and_one_too_long_or_damaged_is_not(tmp_path):
    """Operations as torch itself counts them."""
    made, kept = tmp_path / "made", tmp_path / "kept"
    made.mkdir()
    a = torch.rand(8, 8)
    with profile(use_kineto=True) as trace:
        for _ in range(3):
            (a @ a).relu()
    trace.export_chrome_trace(str(made / "lenet-engine.json"))
    counted = sum(row.count for row in trace.key_averages() if row.key.startswith("aten::"))
    whole = (made / "lenet-engine.json").read_bytes()
    (made / "cut.json").write_bytes(whole[:-20])
    (made / "none.json").write_text('{"traceEvents": [1]}')
    noise = os.urandom(traces.MOST_BYTES).hex()
    (made / "long.json").write_text(json.dumps({"traceEvents": EVENTS, "noise": noise}))
    found = collect(made, kept)
    assert found["lenet-engine"] == {"host_operations": counted, "gpu_operations": 0}
    assert counted >= 6
    assert found["cut"] == found["none"] == {"left_out": "damaged"}
    assert found["long"]["gpu_busy_percent"] == 35.0, "it is told"
    assert found["long"]["left_out"].endswith(f"at most {traces.MOST_BYTES} are kept")
    [copy] = kept.iterdir()
    assert copy.name == "lenet-engine.json.gz"
    assert gzip.decompress(copy.read_bytes()) == whole
