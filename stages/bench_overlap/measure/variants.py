"""The variants: products, copies of their results to the host, and both in all the ways there are.

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

from lab.results.stats import summarise
from lab.timing.bench import Variant, time_variants
from stages.bench_overlap.measure import names
from stages.bench_overlap.measure.params import Params

BYTES = 4  # of a float32
PROBES, PROBE_RESULTS, PROBE_COUNT = 2, 4, 2**20  # to balance: tries, results, elements


@dataclass(frozen=True)
class Work:
    """Products of x (n, n), each with a payload, and a buffer on the host to copy it to.

    A product is written to the front of its payload, whose first `count` elements are copied.
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

    def fresh_copies(self, non_blocking: bool) -> list[Tensor]:
        """Copy all results as the notes do, to memory that the call allocates."""
        return [
            self.payloads[i][: self.count].to("cpu", non_blocking=non_blocking)
            for i in self.results()
        ]

    def results(self) -> range:
        """The numbers of the results."""
        return range(len(self.payloads))

    @property
    def num_bytes(self) -> int:
        """Bytes of all copies."""
        return BYTES * self.count * len(self.payloads)


def make_work(size: int, num_results: int, count: int, device: torch.device, seed: int) -> Work:
    """Random work whose buffers, pinned beside a GPU, are allocated and touched already."""
    x = torch.rand(size, size, generator=torch.Generator().manual_seed(seed)).to(device)
    elements = max(size * size, count)
    payloads = [torch.rand(elements, device=device) for _ in range(num_results)]
    buffers = [torch.zeros(count, pin_memory=device.type == "cuda") for _ in range(num_results)]
    return Work(x, payloads, buffers, count)


def balanced_count(compute_s: float, copy_s: float, count: int) -> int:
    """How many elements take as long to copy as a product, if `count` take `copy_s`."""
    return max(1, round(count * compute_s / copy_s))


def work_of(params: Params, device: torch.device) -> Work:
    """The work that params ask for: the results are copied, or as much as takes as long as one."""
    p = params.bench_overlap
    count = _found_balanced(params, device) if p.balanced else p.size**2
    return make_work(p.size, p.num_results, count, device, params.seed)


def _found_balanced(params: Params, device: torch.device) -> int:
    """How many elements take as long to copy as a product, as timed with a few results."""
    count = PROBE_COUNT
    for _ in range(PROBES):
        work = make_work(params.bench_overlap.size, PROBE_RESULTS, count, device, params.seed)
        variants = {names.COMPUTE: _all(work.compute, work), names.COPIES: _all(work.copy, work)}
        times = time_variants(variants, [device], params.bench)
        compute_s, copy_s = (summarise(times[name]).median for name in variants)
        count = balanced_count(compute_s, copy_s, count)
    return count


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


def variants_of(work: Work, pool: Executor) -> dict[str, Variant]:
    """The variants of this machine; `pool` has two threads."""
    return gpu_variants(work) if work.x.is_cuda else cpu_variants(work, pool)


def cpu_variants(work: Work, pool: Executor) -> dict[str, Variant]:
    """The variants of a machine without a GPU; `pool` has two threads."""
    compute, copies = _all(work.compute, work), _all(work.copy, work)

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

    return {
        names.COMPUTE: compute,
        names.COPIES: copies,
        names.IN_TURN: _in_turn(compute, copies),
        names.BESIDE: beside,
    }


def gpu_variants(work: Work) -> dict[str, Variant]:
    """The variants of a machine with a GPU. None waits for all streams: reading the clock does."""
    device = work.x.device
    main, down, up = (
        torch.cuda.current_stream(device),
        torch.cuda.Stream(device),
        torch.cuda.Stream(device),
    )
    events = [torch.cuda.Event() for _ in work.results()]
    # two of each in turn: more memory than the notes' results take is not needed
    incoming = [torch.zeros(work.count, pin_memory=True) for _ in range(2)]
    arriving = [torch.empty(work.count, device=device) for _ in range(2)]
    compute, copies = _all(work.compute, work), _all(work.copy, work)

    def fresh_copies(non_blocking: bool) -> None:
        hosts = work.fresh_copies(non_blocking)
        torch.cuda.synchronize(device)  # before the pinned memory is freed
        del hosts

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

    def both_directions() -> None:
        with torch.cuda.stream(up):
            for i in work.results():
                arriving[i % 2].copy_(incoming[i % 2], non_blocking=True)
        second_stream()
        main.wait_stream(up)

    return {
        names.COMPUTE: compute,
        names.COPIES: copies,
        names.PAGEABLE_COPIES: partial(fresh_copies, non_blocking=False),
        names.BOOK_COPIES: partial(fresh_copies, non_blocking=True),
        names.UPLOADS: uploads,
        names.PAGEABLE: _in_turn(compute, partial(fresh_copies, non_blocking=False)),
        names.BOOK: _in_turn(compute, partial(fresh_copies, non_blocking=True)),
        names.ONE_STREAM: _in_turn(compute, copies),
        names.TWO_STREAMS: second_stream,
        names.BOTH_DIRECTIONS: both_directions,
    }
