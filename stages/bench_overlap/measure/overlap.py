"""Matrix multiplications, and copies of the results to the host: separate, sequential, concurrent.

The notes copy with `non_blocking=True` on the stream that computes. A stream works in order, so
nothing can overlap; the notes' gain comes from pinned memory, which that call allocates. Overlap
needs pinned memory allocated beforehand, a second stream, and an event per result. On a CPU, a
second thread copies while the first one computes.

The overlap is (t1 + t2 - T) / min(t1, t2), for the times t1 and t2 of the parts and T of both.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue

import torch
from torch import Tensor

from lab.machine.devices import Devices
from lab.parallel.workers import thread_pool
from lab.results.measurements import Measurement, Results, skip
from lab.results.reasons import NEEDS_GPU, Reason
from lab.results.stats import summarise
from lab.timing.bench import Variant, in_unit, time_variants
from lab.timing.clock import read_clock
from stages.bench_overlap.measure.names import ALONE, AS_THE_BOOK, CONCURRENT, PARTS, TWO_STREAMS
from stages.bench_overlap.measure.params import Params

BYTES = 4  # of a float32
PROBES, PROBE_RESULTS, PROBE_COUNT = 2, 4, 2**20  # to balance: tries, results, elements


@dataclass(frozen=True)
class Work:
    """Products x @ x of x (n, n), a payload for each, and buffers on the host for copies.

    A product is written to the front of its payload, whose first `count` elements are copied.
    """

    x: Tensor
    payloads: Sequence[Tensor]
    buffers: Sequence[Tensor]
    count: int

    def compute(self, i: int) -> None:
        n = len(self.x)
        torch.mm(self.x, self.x, out=self.payloads[i][: n * n].view(n, n))

    def copy(self, i: int) -> None:
        """Copy result i into its buffer; with a GPU and pinned buffers, the host does not wait."""
        self.buffers[i].copy_(self.payloads[i][: self.count], non_blocking=True)

    def fresh_copies(self, non_blocking: bool) -> list[Tensor]:
        """Copy all results as the notes do, to memory that the call allocates."""
        return [
            self.payloads[i][: self.count].to("cpu", non_blocking=non_blocking)
            for i in self.results()
        ]

    def results(self) -> range:
        """Return the indices of the results."""
        return range(len(self.payloads))

    @property
    def num_bytes(self) -> int:
        """Return the bytes of all copies."""
        return BYTES * self.count * len(self.payloads)


def copy_in_second_stream(
    work: Work,
    computing: torch.cuda.Stream,
    copying: torch.cuda.Stream,
    done: Sequence[torch.cuda.Event],
) -> None:
    """Copy each result as soon as it is ready, while the GPU computes the next ones."""
    for i in work.results():
        work.compute(i)
        done[i].record(computing)
        with torch.cuda.stream(copying):
            copying.wait_event(done[i])
            work.copy(i)
    computing.wait_stream(copying)  # the next round overwrites what this one copies


def copy_in_second_thread(work: Work, pool: Executor) -> None:
    """Copy each result on a CPU as soon as it is ready: one thread computes, the other copies."""
    done: SimpleQueue[int] = SimpleQueue()

    def compute() -> None:
        for i in work.results():
            work.compute(i)
            done.put(i)

    def copy() -> None:
        for _ in work.results():
            work.copy(done.get())

    for thread in (pool.submit(compute), pool.submit(copy)):
        thread.result()


def measure_times(work: Work, params: Params, devices: Devices, process: int) -> list[Measurement]:
    """Measure the times of all variants, and the bandwidths of those that only copy."""
    size, kind, on_gpu = params.bench_overlap.size, devices.kind, work.x.is_cuda
    with thread_pool(2, devices.threads) as pool:
        variants = variants_of(work, pool)
        best = TWO_STREAMS if on_gpu else CONCURRENT
        seconds = time_variants(variants, devices.devices, params.bench, process, control=best)
    rates = {
        variant: tuple(work.num_bytes / t / 1e9 for t in seconds[variant])
        for variant in ALONE
        if variant in seconds and variant != "computing only"
    }
    missing = [] if on_gpu else [variant for variant in PARTS if variant not in seconds]
    return [
        *in_unit("times", size, seconds, "ms", devices),
        *[Measurement("bandwidth", a, size, r, "GB/s", kind) for a, r in rates.items()],
        *[skip("times", variant, Reason(NEEDS_GPU), kind) for variant in missing],
    ]


def variants_of(work: Work, pool: Executor) -> dict[str, Variant]:
    """Return the variants of this machine; `pool` has two threads."""
    return gpu_variants(work) if work.x.is_cuda else cpu_variants(work, pool)


def cpu_variants(work: Work, pool: Executor) -> dict[str, Variant]:
    """Return the variants without a GPU; `pool` has two threads."""
    compute, copies = _all(work.compute, work), _all(work.copy, work)
    return {
        "computing only": compute,
        "copying only": copies,
        "sequentially": _in_turn(compute, copies),
        CONCURRENT: partial(copy_in_second_thread, work, pool),
    }


def gpu_variants(work: Work) -> dict[str, Variant]:
    """Return the variants on a GPU. Reading the clock synchronizes all streams; these do not."""
    device = work.x.device
    main, down, up = (
        torch.cuda.current_stream(device),
        torch.cuda.Stream(device),
        torch.cuda.Stream(device),
    )
    events = [torch.cuda.Event() for _ in work.results()]
    # two of each, alternating, to need hardly more memory than the notes' results
    incoming = [torch.zeros(work.count, pin_memory=True) for _ in range(2)]
    arriving = [torch.empty(work.count, device=device) for _ in range(2)]
    compute, copies = _all(work.compute, work), _all(work.copy, work)
    second_stream = partial(copy_in_second_stream, work, main, down, events)

    def fresh_copies(non_blocking: bool) -> None:
        hosts = work.fresh_copies(non_blocking)
        torch.cuda.synchronize(device)  # before the pinned memory is freed
        del hosts

    def uploads() -> None:
        for i in work.results():
            arriving[i % 2].copy_(work.buffers[i], non_blocking=True)

    def both_directions() -> None:
        with torch.cuda.stream(up):
            for i in work.results():
                arriving[i % 2].copy_(incoming[i % 2], non_blocking=True)
        second_stream()
        main.wait_stream(up)

    pageable_copies = partial(fresh_copies, non_blocking=False)
    notes_copies = partial(fresh_copies, non_blocking=True)
    return {
        "computing only": compute,
        "copying only": copies,
        "copying only, pageable memory": pageable_copies,
        "copying only, non_blocking": notes_copies,
        "uploading only": uploads,
        "pageable memory, one stream": _in_turn(compute, pageable_copies),
        "the notes' non_blocking, one stream": _in_turn(compute, notes_copies),
        "pinned memory, one stream": _in_turn(compute, copies),
        TWO_STREAMS: second_stream,
        "pinned memory, both directions": both_directions,
    }


def _all(one: Callable[[int], None], work: Work) -> Variant:
    def variant() -> None:
        for i in work.results():
            one(i)

    return variant


def _in_turn(*variants: Variant) -> Variant:
    def in_turn() -> None:
        for variant in variants:
            variant()

    return in_turn


def overlap_fraction(parts: Sequence[float], total: float) -> float:
    """Return 0 if `total` seconds are the sum of the parts, 1 if they are the longest part.

    For two parts, it is (t1 + t2 - T) / min(t1, t2). If it is outside [0, 1] by more than noise,
    something other than overlap was measured.
    """
    return (sum(parts) - total) / (sum(parts) - max(parts))


def overlap_fractions(times: Sequence[Measurement]) -> list[Measurement]:
    results, fractions = Results(times), []
    compared = [(variant, variant, parts) for variant, parts in PARTS.items()]
    book = "the notes' non_blocking, one stream"
    compared.append((AS_THE_BOOK, book, ("computing only", "copying only, pageable memory")))
    for name, variant, parts in compared:
        total = results.one("times", variant)
        alone = [m for part in parts if (m := results.one("times", part))]
        if total is None or len(alone) < len(parts):
            continue
        each = zip(*(m.values for m in alone), strict=True)
        values = tuple(overlap_fraction(p, t) for p, t in zip(each, total.values, strict=True))
        kind, threads = total.device_kind, total.threads
        fractions.append(Measurement("overlap", name, total.x, values, "fraction", kind, threads))
    return fractions


def measure_return(work: Work, devices: Devices, rounds: int) -> list[Measurement]:
    """Time until the notes' call to copy all results returns, and until the copies are ready."""
    experiment = "the book's non_blocking call, nothing else at work"
    if not work.x.is_cuda:
        variants = ("call returns", "copies are there")
        return [skip(experiment, variant, Reason(NEEDS_GPU), devices.kind) for variant in variants]
    returns, arrives = [], []
    for _ in range(1 + rounds):
        start = read_clock(devices.devices)
        hosts = work.fresh_copies(non_blocking=True)
        returns.append(read_clock([]) - start)
        arrives.append(read_clock(devices.devices) - start)
        del hosts
    times = {"call returns": tuple(returns[1:]), "copies are there": tuple(arrives[1:])}  # warm
    return in_unit(experiment, len(work.x), times, "ms", devices)


def work_of(params: Params, device: torch.device) -> Work:
    """Make the work of params; if balanced, a copy takes as long as its multiplication."""
    p = params.bench_overlap
    count = _found_balanced(params, device) if p.balanced else p.size**2
    return make_work(p.size, p.num_results, count, device, params.seed)


def make_work(size: int, num_results: int, count: int, device: torch.device, seed: int) -> Work:
    """Make random work with buffers allocated and touched beforehand, pinned for a GPU."""
    x = torch.rand(size, size, generator=torch.Generator().manual_seed(seed)).to(device)
    elements = max(size * size, count)
    payloads = [torch.rand(elements, device=device) for _ in range(num_results)]
    buffers = [torch.zeros(count, pin_memory=device.type == "cuda") for _ in range(num_results)]
    return Work(x, payloads, buffers, count)


def _found_balanced(params: Params, device: torch.device) -> int:
    """Find by timing how many elements take as long to copy as a multiplication takes."""
    count = PROBE_COUNT
    for _ in range(PROBES):
        work = make_work(params.bench_overlap.size, PROBE_RESULTS, count, device, params.seed)
        variants = {"compute": _all(work.compute, work), "copies": _all(work.copy, work)}
        times = time_variants(variants, [device], params.bench)
        compute_s, copy_s = (summarise(times[name]).median for name in variants)
        count = balanced_count(compute_s, copy_s, count)
    return count


def balanced_count(compute_s: float, copy_s: float, count: int) -> int:
    """Return how many elements take `compute_s` to copy, if `count` take `copy_s`."""
    return max(1, round(count * compute_s / copy_s))
