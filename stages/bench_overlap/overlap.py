"""Computing and copying the results away at the same time: the ways to do it, and what overlap is
(section 13.3).

The notes copy with `non_blocking=True` on the stream that computes. A stream does its work in
order, so nothing can overlap there; what they save comes from pinned memory, which that call
allocates. Overlap needs pinned memory that is there already, a second stream, and an event per
result. On a CPU a second thread copies beside the one that computes.
"""

import queue
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor
from torch.profiler import ProfilerActivity, profile

Arm = Callable[[], object]

COMPUTE, COPIES, UPLOADS = "compute alone", "copies alone", "uploads alone"
PAGEABLE_COPIES, BOOK_COPIES = "pageable copies alone", "non_blocking copies alone"
PAGEABLE, BOOK = "pageable memory, blocking", "the book's non_blocking, one stream"
ONE_STREAM, TWO_STREAMS = "pinned buffers, one stream", "pinned buffers, second stream"
BOTH_WAYS = "pinned buffers, both directions at once"
IN_TURN, BESIDE = "one after the other", "a copying thread beside the computing one"
PARTS = {  # what each way would take without any overlap: its parts, each measured alone
    PAGEABLE: (COMPUTE, PAGEABLE_COPIES),
    BOOK: (COMPUTE, BOOK_COPIES),
    ONE_STREAM: (COMPUTE, COPIES),
    TWO_STREAMS: (COMPUTE, COPIES),
    BOTH_WAYS: (COMPUTE, COPIES, UPLOADS),
    IN_TURN: (COMPUTE, COPIES),
    BESIDE: (COMPUTE, COPIES),
}
ONLY_CUDA = (PAGEABLE, BOOK, ONE_STREAM, TWO_STREAMS, BOTH_WAYS)
# its own comparison, which is no overlap
AS_THE_BOOK = "the book's non_blocking, held against pageable copies"


def overlap_fraction(parts: Sequence[float], total: float) -> float:
    """Return the share of the possible overlap that `total` seconds achieve: 0 for the sum, 1 for
    the longest part.

    For two parts (t1 + t2 - T) / min(t1, t2). Outside [0, 1], by more than noise, something else
    was measured.
    """
    return (sum(parts) - total) / (sum(parts) - max(parts))


@dataclass(frozen=True)
class Work:
    """Products whose results are copied away: x (n, n), and for each result a payload and a buffer
    to copy it to.

    A product is written to the front of its payload; `count` elements of the payload are copied to
    the host.
    """

    x: Tensor
    payloads: Sequence[Tensor]
    buffers: Sequence[Tensor]
    count: int

    def compute(self, i: int) -> None:
        """Compute product i."""
        n = len(self.x)
        torch.mm(self.x, self.x, out=self.payloads[i][: n * n].view(n, n))

    def copy(self, i: int) -> None:
        """Copy result i into its buffer; on a GPU with pinned buffers the host does not wait."""
        self.buffers[i].copy_(self.payloads[i][: self.count], non_blocking=True)

    def results(self) -> range:
        """Return the numbers of the results."""
        return range(len(self.payloads))


def make_work(size: int, num_results: int, count: int, device: torch.device, seed: int) -> Work:
    """Return random work whose buffers, pinned beside a GPU, are there and touched beforehand."""
    x = torch.rand(size, size, generator=torch.Generator().manual_seed(seed)).to(device)
    elements = max(size * size, count)
    payloads = [torch.rand(elements, device=device) for _ in range(num_results)]
    buffers = [torch.zeros(count, pin_memory=device.type == "cuda") for _ in range(num_results)]
    return Work(x, payloads, buffers, count)


def balanced_count(compute_s: float, copy_s: float, count: int) -> int:
    """Return how many elements take as long to copy as a product takes, from the time `count`
    elements take.
    """
    return max(1, round(count * compute_s / copy_s))


def _in_turn(*arms: Arm) -> Arm:
    def in_turn() -> None:
        for arm in arms:
            arm()

    return in_turn


def cpu_arms(work: Work, pool: Executor) -> dict[str, Arm]:
    """Return the ways of a machine without a GPU; `pool` has two threads."""

    def compute() -> None:
        for i in work.results():
            work.compute(i)

    def copies() -> None:
        for i in work.results():
            work.copy(i)

    def beside() -> None:
        ready: queue.SimpleQueue[int] = queue.SimpleQueue()

        def produce() -> None:
            for i in work.results():
                work.compute(i)
                ready.put(i)

        def consume() -> None:
            for _ in work.results():
                work.copy(ready.get())

        for thread in (pool.submit(produce), pool.submit(consume)):
            thread.result()

    return {COMPUTE: compute, COPIES: copies, IN_TURN: _in_turn(compute, copies), BESIDE: beside}


def gpu_arms(work: Work) -> dict[str, Arm]:
    """Return the ways of a machine with a GPU. No way waits: reading the clock does, for all
    streams.
    """
    device = work.x.device
    main, down, up = (
        torch.cuda.current_stream(device),
        torch.cuda.Stream(device),
        torch.cuda.Stream(device),
    )
    events = [torch.cuda.Event() for _ in work.results()]
    arriving = [torch.empty(work.count, device=device) for _ in range(2)]

    def compute() -> None:
        for i in work.results():
            work.compute(i)

    def fresh_copies(non_blocking: bool) -> None:
        hosts = [
            work.payloads[i][: work.count].to("cpu", non_blocking=non_blocking)
            for i in work.results()
        ]
        torch.cuda.synchronize(device)  # before the pinned memory is freed
        del hosts

    def copies() -> None:
        for i in work.results():
            work.copy(i)

    def uploads() -> None:
        for i in work.results():
            arriving[i % 2].copy_(work.buffers[i], non_blocking=True)

    def second_stream() -> None:
        for i in work.results():
            work.compute(i)
            events[i].record(main)
            with torch.cuda.stream(down):
                down.wait_event(events[i])
                work.copy(i)
        main.wait_stream(down)  # the next round's products overwrite what this one copies

    def both_ways() -> None:
        with torch.cuda.stream(up):
            for i in work.results():
                arriving[i % 2].copy_(incoming[i], non_blocking=True)
        second_stream()
        main.wait_stream(up)

    incoming = [torch.zeros(work.count, pin_memory=True) for _ in work.results()]
    return {
        COMPUTE: compute,
        COPIES: copies,
        PAGEABLE_COPIES: partial(fresh_copies, non_blocking=False),
        BOOK_COPIES: partial(fresh_copies, non_blocking=True),
        UPLOADS: uploads,
        PAGEABLE: _in_turn(compute, partial(fresh_copies, non_blocking=False)),
        BOOK: _in_turn(compute, partial(fresh_copies, non_blocking=True)),
        ONE_STREAM: _in_turn(compute, copies),
        TWO_STREAMS: second_stream,
        BOTH_WAYS: both_ways,
    }


@dataclass(frozen=True)
class Span:
    """What one lane of a timeline did: `compute`, `copy` or `upload`, from `start` for `duration`
    milliseconds.
    """

    what: str
    start: float
    duration: float


def timeline(arm: Arm, device: torch.device) -> list[Span]:
    """Return what torch.profiler saw of `arm`: a GPU's kernels and copies, or a CPU's products and
    copies.
    """
    arm()
    on_gpu = device.type == "cuda"
    if on_gpu:
        profiling = profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])
    else:  # all threads: the profiler would see this one alone
        every_thread = torch._C._profiler._ExperimentalConfig(profile_all_threads=True)
        profiling = profile(activities=[ProfilerActivity.CPU], experimental_config=every_thread)
    with profiling as profiler:
        arm()
        if on_gpu:
            torch.cuda.synchronize(device)
    events = [(what, e.time_range) for e in profiler.events() if (what := _kind(e, on_gpu))]
    begin = min((span.start for _, span in events), default=0)
    return [
        Span(what, (span.start - begin) / 1e3, (span.end - span.start) / 1e3)
        for what, span in events
    ]


def _kind(event: "torch.autograd.profiler_util.FunctionEvent", on_gpu: bool) -> str:
    """Return what an event of the profiler was, or nothing if it does not count."""
    if not on_gpu:
        return {"aten::mm": "compute", "aten::copy_": "copy"}.get(event.name, "")
    if event.device_type != torch.autograd.DeviceType.CUDA:
        return ""
    if event.name.startswith("Memcpy"):
        return "upload" if "HtoD" in event.name else "copy"
    return "" if event.name.startswith("Memset") else "compute"
