"""Every variant copies every result, on a CPU and on a stand-in for a GPU."""

import contextlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest
import torch

from stages.bench_overlap.measure.names import ALONE, CONCURRENT, PARTS, SAME_IN_TURN, TWO_STREAMS
from stages.bench_overlap.measure.overlap import (
    Work,
    balanced_count,
    cpu_variants,
    gpu_variants,
    make_work,
)
from stages.bench_overlap.measure.timeline import timeline

CPU = torch.device("cpu")


def test_copies_are_sized_to_take_as_long_as_products():
    assert balanced_count(compute_s=2.0, copy_s=0.5, count=100) == 400
    assert balanced_count(compute_s=1e-9, copy_s=1.0, count=100) == 1


def test_every_cpu_variant_copies_every_result():
    for count in (10, 16 * 16, 1000):  # fewer elements than a product, as many, more
        for variant in ("sequentially", CONCURRENT):
            work = make_work(16, 5, count, CPU, seed=0)
            for payload in work.payloads:
                payload.zero_()
            with ThreadPoolExecutor(2) as pool:
                cpu_variants(work, pool)[variant]()
            product = (work.x @ work.x).flatten()[:count]
            for buffer, payload in zip(work.buffers, work.payloads, strict=True):
                torch.testing.assert_close(
                    buffer[: len(product)], product, msg=f"{variant}, {count}"
                )
                assert torch.equal(buffer, payload[:count]), (variant, count)


def test_the_profiler_sees_every_product_and_copy_in_all_threads():
    work = make_work(32, 6, 5000, CPU, seed=0)
    with ThreadPoolExecutor(2) as pool:
        spans = timeline(cpu_variants(work, pool)[CONCURRENT], CPU)
    assert sorted(s.activity for s in spans) == ["compute"] * 6 + ["copy"] * 6
    assert min(span.start for span in spans) == 0
    assert all(span.duration > 0 for span in spans)


@dataclass
class FakeCuda:
    """A log of what each stream is given, in the host's order."""

    log: list[tuple] = field(default_factory=list)
    current: str = "main"

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        cuda, streams = torch.cuda, iter(("down", "up"))
        log, fake = self.log, self

        class Stream:
            def __init__(self, device: object = None, name: str = "") -> None:
                self.name = name or next(streams)

            def wait_event(self, event: "Event") -> None:
                log.append(("wait for event", event.number, self.name))

            def wait_stream(self, other: "Stream") -> None:
                log.append(("wait for stream", other.name, self.name))

        class Event:
            made = 0

            def __init__(self) -> None:
                self.number, Event.made = Event.made, Event.made + 1

            def record(self, stream: Stream) -> None:
                log.append(("record", self.number, stream.name))

        @contextlib.contextmanager
        def stream(entered: Stream):
            before, fake.current = fake.current, entered.name
            yield
            fake.current = before

        main = Stream(name="main")
        monkeypatch.setattr(cuda, "Stream", Stream)
        monkeypatch.setattr(cuda, "Event", Event)
        monkeypatch.setattr(cuda, "stream", stream)
        monkeypatch.setattr(cuda, "current_stream", lambda device: main)
        monkeypatch.setattr(cuda, "synchronize", lambda device: log.append(("synchronize",)))
        zeros = torch.zeros
        monkeypatch.setattr(torch, "zeros", lambda *a, pin_memory=False, **k: zeros(*a, **k))


@pytest.fixture
def cuda(monkeypatch):
    fake = FakeCuda()
    fake.install(monkeypatch)

    class LoggedWork(Work):
        def compute(self, i: int) -> None:
            fake.log.append(("compute", i, fake.current))

        def copy(self, i: int) -> None:
            fake.log.append(("copy", i, fake.current))

    plain = make_work(4, 3, 8, CPU, seed=0)
    variants = gpu_variants(LoggedWork(plain.x, plain.payloads, plain.buffers, plain.count))
    fake.log.clear()
    return variants, fake.log


def test_on_one_stream_copies_follow_all_products(cuda):
    variants, log = cuda
    variants["pinned memory, one stream"]()
    assert log == [("compute", i, "main") for i in range(3)] + [
        ("copy", i, "main") for i in range(3)
    ]


def test_on_a_second_stream_each_copy_waits_for_its_own_product_only(cuda):
    variants, log = cuda
    variants[TWO_STREAMS]()
    each = [
        [
            ("compute", i, "main"),
            ("record", i, "main"),
            ("wait for event", i, "down"),
            ("copy", i, "down"),
        ]
        for i in range(3)
    ]
    assert log == [*each[0], *each[1], *each[2], ("wait for stream", "down", "main")]


def test_variants_that_allocate_synchronize_before_they_free(cuda):
    variants, log = cuda
    for variant in ("pageable memory, one stream", "the notes' non_blocking, one stream"):
        log.clear()
        variants[variant]()
        assert log == [("compute", i, "main") for i in range(3)] + [("synchronize",)]


def test_each_direction_uses_its_own_stream(cuda):
    variants, log = cuda
    variants["pinned memory, both directions"]()
    assert {entry[2] for entry in log if entry[0] == "copy"} == {"down"}
    assert log[-1] == ("wait for stream", "up", "main")


def test_the_parts_of_every_gpu_variant_are_timed_separately(cuda):
    variants, _ = cuda
    both = set(PARTS) - {CONCURRENT, SAME_IN_TURN[CONCURRENT]}  # a CPU's
    assert set(variants) == {*ALONE, *both}
    for variant in both:
        assert set(PARTS[variant]) <= set(ALONE), variant
