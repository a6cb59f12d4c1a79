"""The simulation refuses what CUDA refuses, delays what CUDA delays, and notes missing waits."""

import os
import sys
import threading
import time

import pytest
import simulated_cuda
import torch
from simulated_cuda import notes

GPU, OTHER = torch.device("cuda:0"), torch.device("cuda:1")


@pytest.fixture(autouse=True)
def quiet():
    """A test begins without pending work and without notes."""
    for device in (GPU, OTHER):
        torch.ones(1, device=device)
        torch.cuda.synchronize(device)
    notes.clear()
    yield
    torch.cuda.set_stream(torch.cuda.default_stream(GPU))  # a failed capture leaves its own set


def noted(kind):
    return [what for found, what, _ in notes if found == kind]


def test_new_memory_holds_no_numbers():
    assert torch.empty(3, device=GPU).isnan().all()
    assert (torch.empty(3, device=GPU, dtype=torch.int64) == -1).all()


def test_devices_are_not_mixed():
    x = torch.ones(2, 3, device=GPU)
    for other in (torch.ones(2, 3, device=OTHER), torch.ones(2, 3)):
        with pytest.raises(RuntimeError, match="same device"):
            x + other
        with pytest.raises(RuntimeError, match="same device"):
            torch.cat([x, other])
    assert (x + torch.tensor(1.0)).sum().item() == 12, "a number from the CPU is no mixture"
    assert x[torch.tensor([1])].device == GPU, "nor are indices from there"


@pytest.mark.parametrize("layer", [torch.nn.Linear(4, 2), torch.nn.Conv2d(1, 2, 3)])
def test_results_and_gradients_equal_the_cpus_and_lie_on_the_device(layer):
    X = torch.rand(5, 4) if isinstance(layer, torch.nn.Linear) else torch.rand(5, 1, 6, 6)
    there = type(layer)(*(4, 2) if X.dim() == 2 else (1, 2, 3)).to(OTHER)
    there.load_state_dict(layer.state_dict())
    y, y_there = layer(X), there(X.to(OTHER))
    y.square().sum().backward()
    y_there.square().sum().backward()
    assert y_there.device == there.weight.grad.device == OTHER
    assert torch.equal(y_there.cpu(), y)
    assert torch.equal(there.weight.grad.cpu(), layer.weight.grad)


def test_an_out_takes_the_results_shape():
    x, out = torch.ones(2, 3, device=GPU), torch.empty(0, device=GPU)
    assert torch.mm(x, x.T, out=out) is out
    assert out.shape == (2, 2)
    assert out.device == GPU
    assert out.sum().item() == 12


def test_views_share_memory():
    x = torch.zeros(2, 3, device=GPU)
    x.T[1].add_(1)
    x.view(-1).split(3)[0].mul_(2)
    assert x.tolist() == [[0, 2, 0], [0, 1, 0]]


def test_each_thread_has_its_own_current_device_and_stream():
    found = []
    with torch.cuda.device(OTHER), torch.cuda.stream(torch.cuda.Stream(OTHER)) as _:
        here = torch.cuda.current_device(), torch.cuda.current_stream().stream_id
        thread = threading.Thread(
            target=lambda: found.append(
                (torch.cuda.current_device(), torch.cuda.current_stream(OTHER).stream_id)
            )
        )
        thread.start()
        thread.join()
    assert here[0] == 1
    assert here[1] != 0
    assert found == [(0, 0)]


def test_each_device_draws_its_own_numbers():
    torch.manual_seed(7)
    drawn = [torch.rand(4, device=device).tolist() for device in ("cpu", GPU, GPU)]
    torch.manual_seed(7)
    assert torch.rand(4, device=GPU).tolist() == drawn[1]
    assert drawn[0] != drawn[1] != drawn[2]
    with pytest.raises(RuntimeError, match="device type for generator"):
        torch.rand(4, device=GPU, generator=torch.Generator())


def test_a_copy_to_pinned_memory_is_late():
    x = torch.arange(4.0, device=GPU)
    pinned, pageable = torch.empty(4, pin_memory=True), torch.empty(4)
    pinned.copy_(x, non_blocking=True)
    assert pinned.isnan().all()
    pageable.copy_(x, non_blocking=True)  # waits, as CUDA's does
    assert pageable.tolist() == pinned.tolist() == [0, 1, 2, 3]
    pinned.fill_(5)
    assert x.to("cpu").tolist() == [0, 1, 2, 3]


def test_pinned_memory_may_not_change_while_it_is_copied():
    pinned = torch.ones(4, pin_memory=True)
    there = pinned.to(GPU, non_blocking=True)
    pinned.zero_()
    torch.cuda.synchronize(GPU)
    assert noted("race") == ["pinned memory changed while it was copied to a GPU"]
    assert there.is_cuda


def test_reading_the_clock_while_work_is_pending_is_noted():
    x = torch.ones(4, device=OTHER)
    time.perf_counter()
    torch.cuda.synchronize(GPU)
    time.perf_counter()
    assert noted("clock") == ["1 task", "1 task"]
    torch.cuda.synchronize(OTHER)
    time.perf_counter()
    assert len(noted("clock")) == 2
    assert x.sum().item() == 4, "an item is waited for"
    time.perf_counter()
    assert len(noted("clock")) == 2


def test_the_first_use_of_a_device_and_of_a_kernel_is_noted_once():
    torch.ones(3, device=GPU).erfc_().erfc_()
    assert noted("first") == ["aten::erfc on cuda:0"]
    assert noted("context") == [], "both devices are in use already"


def test_events_measure_no_time_before_they_are_reached_or_without_timing():
    start, end, untimed = (torch.cuda.Event(enable_timing=timing) for timing in (True, True, False))
    start.record()
    x = torch.ones(4, device=GPU)
    end.record()
    untimed.record()
    with pytest.raises(RuntimeError, match="completed"):
        start.elapsed_time(end)
    end.synchronize()
    assert start.elapsed_time(end) > 0
    untimed.synchronize()
    with pytest.raises(ValueError, match="enable_timing"):
        start.elapsed_time(untimed)
    assert x.is_cuda


def test_a_query_eventually_returns_true():
    x = torch.ones(4, device=GPU)
    event = torch.cuda.current_stream().record_event()
    assert not event.query()
    assert event.query()
    assert x.is_cuda


@pytest.mark.parametrize("waits", [True, False])
def test_a_missing_wait_between_streams_is_a_race(waits):
    side = torch.cuda.Stream(GPU)
    x = torch.ones(4, device=GPU)
    if waits:
        side.wait_stream(torch.cuda.current_stream(GPU))
    with torch.cuda.stream(side):
        x.mul_(2)
    if waits:
        torch.cuda.current_stream(GPU).wait_stream(side)
    y = x + 1
    # two by the product, which reads and writes too early, and one by the sum
    assert len(noted("race")) == (0 if waits else 3)
    assert y.is_cuda


@pytest.mark.parametrize("kept", [True, False])
def test_reusing_memory_that_another_stream_uses_is_a_race_unless_it_was_recorded(kept):
    side = torch.cuda.Stream(GPU)
    x = torch.ones(4, device=GPU)
    side.wait_stream(torch.cuda.current_stream(GPU))
    with torch.cuda.stream(side):
        y = x + 1
    if kept:
        x.record_stream(side)
    del x
    torch.empty(4, device=GPU)
    assert len(noted("race")) == (0 if kept else 1)
    assert y.is_cuda


def test_a_backward_pass_keeps_to_the_streams_of_the_forward_pass():
    side = torch.cuda.Stream(OTHER)
    w = torch.ones(3, 3, device=OTHER, requires_grad=True)
    side.wait_stream(torch.cuda.current_stream(OTHER))
    with torch.cuda.stream(side):
        loss = (w @ w).sum()
    torch.cuda.current_stream(OTHER).wait_stream(side)
    loss.backward()
    assert w.grad.sum().item() == 54
    assert noted("race") == []


def test_copies_between_devices_are_in_order():
    x = torch.ones(4, device=GPU)
    y = x.to(OTHER)
    y.add_(1)
    x.copy_(y)
    assert x.sum().item() == 8
    assert noted("race") == []


def graph_of(work, pool=None):
    side = torch.cuda.Stream(GPU)
    side.wait_stream(torch.cuda.current_stream(GPU))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side, pool=pool):
        result = work()
    return graph, result


def test_a_graph_computes_when_it_is_replayed():
    x, w = torch.ones(3, device=GPU), torch.zeros(3, device=GPU)

    def work():
        w.add_(x)
        return w * 10

    graph, result = graph_of(work)
    assert w.tolist() == [0, 0, 0], "nothing ran yet"
    assert result.isnan().all()
    for times in (1, 2):
        graph.replay()
        assert result.tolist() == [10 * times] * 3
    x.fill_(5)
    graph.replay()
    assert w.tolist() == [7, 7, 7]
    assert noted("race") == []


@pytest.mark.parametrize(
    "forbidden",
    [
        lambda x: x.sum().item(),
        lambda x: x.cpu(),
        lambda x: torch.cuda.synchronize(),
        lambda x: x.copy_(torch.zeros(3)),
    ],
    ids=["item", "copy to pageable memory", "synchronize", "copy from pageable memory"],
)
def test_a_capture_refuses_to_wait(forbidden):
    x = torch.ones(3, device=GPU)
    with pytest.raises(RuntimeError, match="capturing"):
        graph_of(lambda: forbidden(x))
    assert x.tolist() == [1, 1, 1]


def test_a_graph_that_uses_freed_memory_is_a_race():
    x = torch.ones(3, device=GPU)
    graph, _ = graph_of(lambda y=x: y + 1)
    graph_of.__defaults__ = (None,)
    del x
    graph.replay()
    assert noted("race") == ["a graph uses memory that was freed after it had been captured"]


def test_graphs_of_one_pool_must_not_run_concurrently():
    pool, x = torch.cuda.graph_pool_handle(), torch.ones(3, device=GPU)
    (first, _), (second, _) = (graph_of(lambda: x + 1, pool) for _ in range(2))
    first.replay()
    second.replay()
    assert noted("race") == []
    with torch.cuda.stream(torch.cuda.Stream(GPU)):
        first.replay()
    assert noted("race")


def test_a_pool_belongs_to_one_device():
    with torch.cuda.device(OTHER):
        pool = torch.cuda.graph_pool_handle()
    with pytest.raises(RuntimeError, match="pool"):
        graph_of(lambda: torch.ones(3, device=GPU), pool)


def test_a_full_device_raises_the_error_that_cuda_raises():
    total = torch.cuda.get_device_properties(GPU).total_memory
    with pytest.raises(torch.OutOfMemoryError, match=r"^CUDA out of memory\. Tried to allocate"):
        torch.empty(total + 1, dtype=torch.uint8, device=GPU)
    before = torch.cuda.memory_allocated(GPU)
    x = torch.ones(1000, device=GPU)
    y = x + 1
    assert torch.cuda.memory_allocated(GPU) == before + 8000
    del x, y
    assert torch.cuda.memory_allocated(GPU) == before


def test_a_forked_process_cannot_use_gpus_that_its_parent_used():
    torch.ones(1, device=GPU)
    if (child := os.fork()) == 0:
        try:
            torch.ones(1, device=GPU)
        except RuntimeError as error:
            os._exit(7 if "forked subprocess" in str(error) else 1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_a_copy_of_a_net_lies_on_the_nets_device():
    import copy

    net = torch.nn.Linear(2, 2).to(OTHER)
    twin = copy.deepcopy(net)
    assert twin.weight.device == OTHER
    assert twin.weight.data_ptr() != net.weight.data_ptr()
    assert torch.equal(twin.weight, net.weight)


def test_threads_do_not_deadlock():
    """One may hold the GIL, and another the simulation's lock."""

    def work(device: torch.device) -> None:
        w = torch.nn.Parameter(torch.rand(3, 3, device=device))
        for _ in range(500):
            y = torch.rand(3).to(device)
            (w @ (y + 1)).sum().backward()
            w.grad = None
            y.cpu()

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    threads = [threading.Thread(target=work, args=(device,)) for device in (GPU, OTHER) * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(before)
    assert noted("race") == []


def test_devices_beyond_the_last_are_refused():
    assert torch.cuda.device_count() == int(os.environ["SIMULATED_GPUS"])
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        torch.ones(1, device=f"cuda:{torch.cuda.device_count()}")
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        torch.cuda.set_device(torch.cuda.device_count())
    assert torch.version.cuda == simulated_cuda.CUDA_VERSION
