"""Timelines of computing and copying, from torch's profiler."""

from dataclasses import dataclass
from typing import Literal

import torch

from lab.machine.devices import Devices
from lab.parallel.workers import thread_pool
from lab.results.measurements import Measurement
from lab.timing.bench import Variant
from lab.timing.profiler import profile
from stages.bench_overlap.measure.names import CONCURRENT, SAME_IN_TURN, TWO_STREAMS
from stages.bench_overlap.measure.overlap import variants_of, work_of
from stages.bench_overlap.measure.params import Params

Activity = Literal["compute", "copy", "upload"]


@dataclass(frozen=True)
class Span:
    """An activity that took `duration` ms, beginning at `start` ms."""

    activity: Activity
    start: float
    duration: float


def timelines(params: Params, devices: Devices) -> list[Measurement]:
    """Return one timeline per variant that the page draws; x: a span's start in ms."""
    device = devices.devices[0]
    on_gpu = device.type == "cuda"
    drawn = (SAME_IN_TURN[TWO_STREAMS], TWO_STREAMS) if on_gpu else (CONCURRENT,)
    with thread_pool(2, devices.threads) as pool:
        variants = variants_of(work_of(params, device), pool)
        spans = {variant: timeline(variants[variant], device) for variant in drawn}
    return [
        Measurement(
            "timeline",
            variant,
            round(span.start, 4),
            (span.duration,),
            "ms",
            devices.kind,
            columns={"activity": span.activity},
        )
        for variant in drawn
        for span in spans[variant]
    ]


def timeline(variant: Variant, device: torch.device) -> list[Span]:
    """Profile `variant`: a GPU's kernels or a CPU's matrix multiplications, and copies."""
    variant()
    on_gpu = device.type == "cuda"
    if on_gpu:
        profiling = profile(use_device="cuda", use_kineto=True)
    else:  # by default, the profiler would see only this thread
        every_thread = torch._C._profiler._ExperimentalConfig(profile_all_threads=True)
        profiling = profile(use_kineto=True, experimental_config=every_thread)
    with profiling as profiler:
        variant()
        if on_gpu:
            torch.cuda.synchronize(device)
    events = [
        (what, e.time_range) for e in profiler.function_events if (what := _activity(e, on_gpu))
    ]
    begin = min((span.start for _, span in events), default=0)
    return [
        Span(what, (span.start - begin) / 1e3, (span.end - span.start) / 1e3)
        for what, span in events
    ]


def _activity(event: "torch.autograd.profiler_util.FunctionEvent", on_gpu: bool) -> Activity | None:
    if not on_gpu:
        on_cpu: dict[str, Activity] = {"aten::mm": "compute", "aten::copy_": "copy"}
        return on_cpu.get(event.name)
    if event.device_type != torch.autograd.DeviceType.CUDA or event.name.startswith("Memset"):
        return None
    if event.name.startswith("Memcpy"):
        return "upload" if "HtoD" in event.name else "copy"
    return "compute"
