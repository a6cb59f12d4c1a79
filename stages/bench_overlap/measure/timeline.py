"""What computed and what copied when, as torch's profiler saw it."""

from dataclasses import dataclass

import torch
from torch.profiler import ProfilerActivity, profile

from lab.machine.devices import Devices
from lab.parallel.workers import thread_pool
from lab.results.measurements import Measurement
from lab.timing.bench import Variant
from stages.bench_overlap.measure import names
from stages.bench_overlap.measure.params import Params
from stages.bench_overlap.measure.variants import variants_of, work_of


@dataclass(frozen=True)
class Span:
    """Something of a `kind` that took `duration` milliseconds from `start` on."""

    kind: str  # names.COMPUTING, COPYING or UPLOADING
    start: float
    duration: float


def timelines(params: Params, devices: Devices) -> list[Measurement]:
    """One timeline of each way that the page draws."""
    device = devices.devices[0]
    drawn = (names.ONE_STREAM, names.TWO_STREAMS) if device.type == "cuda" else (names.BESIDE,)
    with thread_pool(2, devices.threads) as pool:
        variants = variants_of(work_of(params, device), pool)
        spans = {variant: timeline(variants[variant], device) for variant in drawn}
    return [
        Measurement(
            f"{names.TIMELINE}{variant}",
            f"{i} {span.kind}",
            round(span.start, 4),
            (span.duration,),
            "ms",
            devices.kind,
        )
        for variant in drawn
        for i, span in enumerate(spans[variant])
    ]


def timeline(variant: Variant, device: torch.device) -> list[Span]:
    """What torch.profiler saw of `variant`: a GPU's kernels or a CPU's products, and copies."""
    variant()
    on_gpu = device.type == "cuda"
    if on_gpu:
        profiling = profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])
    else:  # all threads: the profiler would see this one alone
        every_thread = torch._C._profiler._ExperimentalConfig(profile_all_threads=True)
        profiling = profile(activities=[ProfilerActivity.CPU], experimental_config=every_thread)
    with profiling as profiler:
        variant()
        if on_gpu:
            torch.cuda.synchronize(device)
    events = [(kind, e.time_range) for e in profiler.events() if (kind := _kind(e, on_gpu))]
    begin = min((span.start for _, span in events), default=0)
    return [
        Span(kind, (span.start - begin) / 1e3, (span.end - span.start) / 1e3)
        for kind, span in events
    ]


def _kind(event: "torch.autograd.profiler_util.FunctionEvent", on_gpu: bool) -> str:
    """What kind of span an event of the profiler is; nothing if none."""
    if not on_gpu:
        return {"aten::mm": names.COMPUTING, "aten::copy_": names.COPYING}.get(event.name, "")
    if event.device_type != torch.autograd.DeviceType.CUDA:
        return ""
    if event.name.startswith("Memcpy"):
        return names.UPLOADING if "HtoD" in event.name else names.COPYING
    return "" if event.name.startswith("Memset") else names.COMPUTING
