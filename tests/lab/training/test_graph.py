"""The step as a CUDA graph: without a GPU, that it can be one, and what a replay of it gives."""

import pytest
import torch

from lab.data import synthetic
from lab.nets.models import MODELS, LeNet
from lab.training.steps import Stepper, prepare_process
from lab.training.strategies.graph import Graph
from lab.training.strategies.replicas import Replicas
from tests.helpers import recipe
from tests.lab.training.tape import WAITS, Tape, recorded_here, storage

CPU = torch.device("cpu")
IMAGES, LABELS = map(torch.from_numpy, synthetic.fashion(40, 0))
TRAIN = IMAGES, LABELS.long()
FEW = IMAGES[:6], LABELS[:6].long()  # for ResNet-18
BATCH = 16  # two of them, and one of 8
LR = 0.1
PLAIN = recipe(batch_size=BATCH, lr=LR)


def net_of(name):
    return MODELS[name](torch.Generator().manual_seed(0))


def on_tape(strategy_type, net, recipe=PLAIN):
    """A strategy whose steps are replayed from tapes."""
    strategy = strategy_type(net, [CPU], recipe)
    strategy.record = recorded_here
    return strategy


def trained(strategy, epochs=2, variants=False, train_set=TRAIN, batch_size=BATCH):
    """All losses of some epochs, each in another order, and the state at the end."""
    stepper, losses = Stepper(strategy, train_set), []
    for epoch in range(epochs):
        generator = torch.Generator().manual_seed(epoch)
        if variants:
            stepper.vary("shift", generator)
        batches = torch.randperm(stepper.num_images, generator=generator).split(batch_size)
        batches = [rows.to(stepper.device) for rows in batches]
        own = torch.zeros(len(batches), dtype=torch.float64)
        stepper.take(batches, [LR] * len(batches), own)
        losses += own.tolist()
    state = strategy.state()
    return losses, [*state["params"].values(), *state["buffers"][0].values()]


def assert_same(found, wanted):
    assert found[0] == wanted[0]
    for one, other in zip(found[1], wanted[1], strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_replays_train_to_the_same_bits(precision):
    """Batches of both sizes, in any order: a replay differs from the step in nothing."""
    eager = trained(
        Replicas(net_of("lenet_he"), [CPU], recipe(precision=precision, batch_size=BATCH, lr=LR)), 3
    )
    assert len(set(eager[0])) == 9, "steps differ"
    assert_same(
        trained(
            on_tape(
                Graph, net_of("lenet_he"), recipe(precision=precision, batch_size=BATCH, lr=LR)
            ),
            3,
        ),
        eager,
    )


def test_so_do_those_of_a_net_with_running_statistics():
    few = {"epochs": 1, "train_set": FEW, "batch_size": 4}
    eager = trained(Replicas(net_of("resnet18"), [CPU]), **few)
    assert_same(trained(on_tape(Graph, net_of("resnet18")), **few), eager)


def test_varied_images_are_seen_by_the_replays():
    eager = trained(Replicas(net_of("lenet_he"), [CPU]), 3, variants=True)
    graph = on_tape(Graph, net_of("lenet_he"))
    assert_same(trained(graph, 3, variants=True), eager)
    assert len(graph._graphs) == 3, "the warm-up's, and two sizes for all variants"


def test_a_rate_of_its_own_has_a_recording_of_its_own():
    strategy, eager = on_tape(Graph, net_of("lenet_he")), Replicas(net_of("lenet_he"), [CPU])
    for lr in (0.1, 0.3, 0.1):
        rows = torch.arange(8)
        assert strategy.step_on(TRAIN, rows, lr, 8) == eager.step_on(TRAIN, rows, lr, 8)


class ReadsItsLoss(Graph):
    """A defect: the host waits for the step, and a recording would keep the first answer."""

    def step(self, X, y, lr, batch_size):
        loss = super().step(X, y, lr, batch_size)
        return loss * float(loss > 0)


class ScalesByTheLastLoss(Graph):
    """Another: what Python knew when it was recorded would be true for ever."""

    last = 1.0

    def step(self, X, y, lr, batch_size):
        loss = super().step(X, y, lr * (1 + 1e-3 * self.last), batch_size)
        self.last = float(loss)
        return loss


def test_what_python_knows_in_a_step_is_seen_to_be_wrong():
    """The tape is no weaker than a GPU: a step that may not be recorded gives other bits."""
    eager = ScalesByTheLastLoss(net_of("lenet_he"), [CPU])
    assert trained(on_tape(ScalesByTheLastLoss, net_of("lenet_he"))) != trained(eager)


def taken_down(strategy):
    rows = torch.arange(4)
    strategy.step_on(TRAIN, rows, LR, len(rows))
    with Tape() as tape:
        loss = strategy.step_on(TRAIN, rows, LR, len(rows))
    return tape, rows, loss


@pytest.mark.parametrize("name", ["lenet", "resnet18"])
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_a_step_waits_for_nothing_and_reads_only_what_stays_or_is_its_own(name, precision):
    """So it can be recorded: all that it reads is the images, the rows, the net, or made in it."""
    strategy = Graph(net_of(name), [CPU], recipe(precision=precision, batch_size=BATCH, lr=LR))
    tape, rows, _ = taken_down(strategy)
    assert not WAITS.intersection(tape.names())
    [net] = strategy.nets
    assert tape.strangers([*TRAIN, rows, *net.parameters(), *net.buffers()]) == []


def test_both_gates_see_a_step_that_waits():
    tape, rows, _ = taken_down(ReadsItsLoss(net_of("lenet"), [CPU]))
    assert WAITS.intersection(tape.names())
    stranger = torch.ones(())

    class ReadsAStranger(Graph):
        def step(self, X, y, lr, batch_size):
            return super().step(X, y, lr, batch_size) * stranger

    strategy = ReadsAStranger(net_of("lenet"), [CPU])
    tape, rows, _ = taken_down(strategy)
    assert tape.strangers([*TRAIN, rows, *strategy.nets[0].parameters()]) == ["aten.mul.Tensor"]


def test_parameters_stay_where_they_are():
    strategy = Graph(net_of("resnet18"), [CPU])
    [net] = strategy.nets
    before = [storage(tensor) for tensor in (*net.parameters(), *net.buffers())]
    trained(strategy, 1, train_set=FEW, batch_size=4)
    strategy.load_state(strategy.state())
    assert [storage(tensor) for tensor in (*net.parameters(), *net.buffers())] == before


def test_several_devices_and_momentum_are_refused():
    for devices, asked in (([CPU, CPU], PLAIN), ([CPU], recipe(momentum=0.9))):
        with pytest.raises(ValueError, match="one device and plain SGD"):
            Graph(LeNet(torch.Generator().manual_seed(0)), devices, asked)


def test_without_a_gpu_the_step_is_taken_as_it_is():
    assert_same(
        trained(Graph(net_of("lenet"), [CPU], PLAIN)),
        trained(Replicas(net_of("lenet"), [CPU], PLAIN)),
    )


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
@pytest.mark.parametrize("compile_mode", ["none", "max-autotune-no-cudagraphs"])
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_on_a_gpu_the_graph_trains_to_the_same_bits(precision, compile_mode):
    prepare_process(precision)
    asked = recipe(precision=precision, compile=compile_mode, batch_size=BATCH, lr=LR)
    gpu = [torch.device("cuda", 0)]
    eager = trained(Replicas(net_of("lenet_he"), gpu, asked), 3, variants=True)
    graph = Graph(net_of("lenet_he"), gpu, asked)
    assert_same(trained(graph, 3, variants=True), eager)
    assert graph._graphs
