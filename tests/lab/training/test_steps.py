import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lab.data import synthetic
from lab.nets.models import LeNet
from lab.training import steps
from lab.training.steps import ASKING_SHARE, HEARD_WITHIN_S, Stepper, steps_between
from lab.training.strategies.replicas import Replicas
from tests.helpers import recipe

IMAGES, LABELS = map(torch.from_numpy, synthetic.fashion(40, 0))
TRAIN = IMAGES, LABELS.long()
CPU = torch.device("cpu")
SMALL = recipe(batch_size=4, lr=0.1)
BATCHES = torch.arange(40).split(4)


class TwoProcesses(Replicas):
    """Asks as if there were another process, and remembers how often."""

    num_processes = 2
    asked = 0

    def any(self, flag):
        self.asked += 1
        return super().any(flag)


def stepper(strategy_type=Replicas):
    net = LeNet(torch.Generator().manual_seed(0))
    return Stepper(strategy_type(net, [CPU], SMALL), TRAIN)


def take(taking, stop_after=99, first=0):
    """What take returns, its losses, and the batches' sizes."""
    sizes, losses = [], torch.full((len(BATCHES),), -1.0, dtype=torch.float64)
    rates = [0.1] * len(BATCHES)
    done = taking.take(
        BATCHES, rates, losses, first, sizes.append, lambda: len(sizes) >= stop_after
    )
    return done, losses, sizes


@given(st.floats(1e-6, 10), st.floats(1e-6, 10), st.floats(1, 1e4))
def test_asking_is_cheap_and_a_stop_is_heard_in_time(ask_s, step_s, scale):
    """Whether a whole batch takes as long as a part of it or `scale` times as long."""
    every = steps_between(ask_s, step_s, scale)
    assert every >= 1
    assert every == 1 or every * step_s * scale <= HEARD_WITHIN_S
    cheap = ask_s <= ASKING_SHARE * every * step_s * (1 + 1e-9)
    assert cheap or (every + 1) * step_s * scale > HEARD_WITHIN_S
    assert every == 1 or ask_s > ASKING_SHARE * (every - 1) * step_s * (1 - 1e-9), "needlessly rare"


def test_several_processes_ask_now_and_then_and_take_the_same_steps(monkeypatch):
    monkeypatch.setattr(steps, "steps_between", lambda ask_s, step_s, scale: 3)
    alone, among = stepper(), stepper(TwoProcesses)
    assert among.ask_every == 3
    among.strategy.asked = 0
    (_, losses, _), (done, losses_among, _) = take(alone), take(among)
    assert (done, among.strategy.asked) == (10, 3), "after steps 3, 6 and 9"
    assert torch.equal(losses, losses_among)
    again = stepper(TwoProcesses)
    assert take(again, stop_after=4)[0] == 6, "heard at the next question"
    done, rest, sizes = take(again, first=6)
    assert (done, len(sizes)) == (10, 4)
    assert torch.equal(rest[6:], losses[6:])


@pytest.mark.parametrize("strategy_type", [Replicas, TwoProcesses])
def test_warming_up_leaves_weights_and_momentum_alone(strategy_type):
    net = LeNet(torch.Generator().manual_seed(0))
    strategy = strategy_type(net, [CPU], SMALL.but(momentum=0.9))
    Stepper(strategy, TRAIN)
    state = strategy.state()
    assert all(torch.equal(state["params"][name], param) for name, param in net.named_parameters())
    assert state["updates"] == []
