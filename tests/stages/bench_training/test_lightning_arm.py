from importlib.util import find_spec

import pytest

from stages.bench_training.measure.arm_turns import TrainingArm
from tests.helpers import write_data

ARM = TrainingArm("lightning", "lenet", batch_size=8, steps=3, device="cpu", threads=1)


class NobodyAsksError(Exception):
    """The end of the race."""


class Link:
    """Asks for two turns, and keeps the answers."""

    def __init__(self):
        self.requests, self.answers = [3, 3], []

    def recv(self):
        if not self.requests:
            raise NobodyAsksError
        return self.requests.pop()

    def send(self, seconds):
        self.answers.append(seconds)


def test_each_epoch_of_lightning_is_a_turn(project):
    if find_spec("lightning") is None:
        pytest.skip("PyTorch Lightning is not installed (pip install -e '.[peers]')")
    from stages.bench_training.measure.lightning_arm import serve_lightning

    write_data(project / "data", train=70, test=10)
    link = Link()
    with pytest.raises(NobodyAsksError):
        serve_lightning(ARM, link)
    assert len(link.answers) == 2
    assert all(0 < seconds < 60 for seconds in link.answers)
    assert {path.name for path in project.iterdir()} <= {"data", "params.yaml", "profiles"}
