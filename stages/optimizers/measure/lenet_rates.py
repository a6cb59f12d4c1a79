"""LeNet for a short budget under each rule, at three rates."""

from collections.abc import Callable, Iterator

from lab.data.datasets import Split
from lab.optim import update_rules
from lab.optim.update_rules import UpdateRule
from lab.results.curves import Curve, line
from lab.training.short_training import accuracy_after
from stages.optimizers.measure import names
from stages.optimizers.measure.params import LenetParams

LENET_RATES: dict[str, tuple[Callable[[float], UpdateRule], tuple[float, ...]]] = {
    names.SGD: (update_rules.gd, (0.03, 0.1, 0.3)),
    names.MOMENTUM: (lambda lr: update_rules.momentum(lr, 0.9), (0.003, 0.01, 0.03)),
    names.ADAGRAD: (update_rules.adagrad, (0.003, 0.01, 0.03)),
    names.RMSPROP: (update_rules.rmsprop, (0.0003, 0.001, 0.003)),
    names.ADAM: (update_rules.adam, (0.0003, 0.001, 0.003)),
    names.YOGI: (update_rules.yogi, (0.001, 0.003, 0.01)),
}


def lenet_accuracies(train: Split, test: Split, params: LenetParams, seed: int) -> Iterator[Curve]:
    """LeNet's test accuracy after a few steps against the rate, for each rule."""
    for name, (make_rule, rates) in LENET_RATES.items():
        accuracies = [
            accuracy_after(make_rule(rate), train, test, params.steps, params.batch_size, seed)
            for rate in rates
        ]
        yield line(names.LENET, name, rates, accuracies)
