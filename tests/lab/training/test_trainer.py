import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lab.data import synthetic
from lab.nets.models import LeNet
from lab.training import loop
from lab.training.loop import SAVE_EVERY_S, _SaveTimer
from lab.training.processes import Alone
from lab.training.steps.by_name import model_and_step
from lab.training.trainer import Trainer
from tests.helpers import recipe

IMAGES, LABELS = map(torch.from_numpy, synthetic.fashion(40, 0))
TRAIN = IMAGES, LABELS.long()
CPU = torch.device("cpu")
BATCHES = torch.arange(40).split(4)


def trainer(**how):
    net = LeNet(torch.Generator().manual_seed(0))
    return Trainer(*model_and_step(net, [CPU], recipe(batch_size=4, lr=0.1, **how)), TRAIN)


def test_pausing_does_not_change_the_steps():
    rates = [0.1] * len(BATCHES)
    whole, parts = (torch.full((len(BATCHES),), -1.0, dtype=torch.float64) for _ in range(2))
    assert trainer().take(BATCHES, rates, whole) == 10
    pausing, sizes = trainer(), []

    def after_three(images):
        sizes.append(images)
        return len(sizes) == 3

    assert pausing.take(BATCHES, rates, parts, pause=after_three) == 3
    assert (parts[3:] == -1).all()
    assert pausing.take(BATCHES, rates, parts, 3) == 10
    assert torch.equal(parts, whole)
    assert sizes == [4, 4, 4]


@pytest.mark.parametrize("optimizer", ["sgd", "momentum", "adam"])  # no state, one part, more
def test_warming_up_leaves_weights_and_the_optimizers_state_alone(optimizer):
    net = LeNet(torch.Generator().manual_seed(0))
    state = trainer(optimizer=optimizer).model.state()
    assert all(torch.equal(state["params"][name], param) for name, param in net.named_parameters())
    assert not any(part.any() for parts in state["updates"] for part in parts)


@given(st.floats(1e-3, 200), st.integers(1, 3))
def test_a_save_is_due_in_time_however_long_a_step_takes(step_s, saves):
    """Due between SAVE_EVERY_S / 2 and SAVE_EVERY_S, or after a first step that takes longer."""
    clock, asked, before = 0.0, [0], loop.time.monotonic

    class Asking(Alone):
        def largest(self, value):
            asked[0] += 1
            return super().largest(value)

    loop.time.monotonic = lambda: clock
    try:
        timer = _SaveTimer(Asking())
        for _ in range(saves):
            last, steps = clock, 0
            while True:
                clock, steps = clock + step_s, steps + 1
                if timer.due():
                    break
            assert SAVE_EVERY_S / 2 <= clock - last <= max(SAVE_EVERY_S, step_s) + 1e-6
            assert asked[0] <= steps.bit_length(), "asking takes a message"
            asked[0] = 0
            timer.restart()
    finally:
        loop.time.monotonic = before
