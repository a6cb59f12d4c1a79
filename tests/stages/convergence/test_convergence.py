"""Findings of `convergence` and its page's values from made-up runs; and one small real run."""

import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from lab.claims.rules import Verdict, decide
from lab.core.errors import ParamsError
from lab.core.params import load
from lab.data import synthetic
from lab.data.datasets import Split
from lab.data.images import Images
from lab.machine.devices import Devices
from lab.results.documents import read_results
from lab.results.findings import Finding, Over
from lab.results.measurements import Results, by_seed, rows_of
from lab.results.stats import Range
from stages.convergence.__main__ import measure, settings
from stages.convergence.findings import findings
from stages.convergence.measure.epochs_to_target import (
    RunsToTarget,
    RunToTarget,
    climb,
    measure_epochs,
)
from stages.convergence.measure.names import FIXED, LARS, MOMENTUM, PLAIN, SCALED
from stages.convergence.measure.params import Params
from stages.convergence.page.figures import NetRuns, values
from tests.helpers import committed_params, edit_params, verdicts
from tests.stages.convergence.made_up import CONVERGENCE, lenet_results, write

CPU = torch.device("cpu")
DEVICES = Devices("cpu-virtual", [CPU], 1)


def test_runs_that_miss_the_target_count_as_longer_than_all_others():
    runs = NetRuns("lenet", Results(lenet_results()))
    half = runs.epochs(SCALED, 4096)
    assert (half.median, half.more, half.text) == (8, True, "> 8.0")
    assert (half.reached.low, half.reached.high) == (6, 6)
    assert (half.missed, half.diverged) == (0, 4)
    none = runs.epochs(FIXED, 4096)
    assert (none.median, none.more, none.reached, none.missed) == (8, True, None, 8)
    all_of_them = runs.epochs(FIXED, 256)
    assert (all_of_them.median, all_of_them.more, all_of_them.missed) == (5, False, 0)


def test_extra_epochs_reduce_what_devices_gain(tmp_path):
    write(tmp_path, "cuda")
    results = read_results(tmp_path / "convergence")
    found = findings(results)
    assert found["gain"].value == pytest.approx(4 / 3.5), "3.5 times the epochs: 4 / 1 and 6 / 2"
    told = values(results, found)
    assert (told["steps_small"], told["steps_large"]) == ("96", "80")
    assert told["one_device"] == pytest.approx(3.5 / 2), "an image takes half as long"
    assert told["at_least"] == {"fixed": "", "scaled": ""}, "at 256 all reached the target"


def test_failed_runs_are_counted_as_shares_of_all():
    """LeNet has 64 runs: 8 that miss the target at 4096, 4 that diverge at a scaled rate."""
    found = findings(Results(lenet_results()))
    shares = [found[f"lenet_{how}_percent"].value for how in ("not_reached", "diverged")]
    assert shares == [12.5, 6.25]


def small():
    few = {"batch_sizes": [16, 64], "max_epochs": 1, "num_seeds": 2}
    lenet = CONVERGENCE.lenet.model_copy(update=few)
    images = {"train_images": 256, "short_images": 64, "staleness": [0, 1]}
    resnet18 = CONVERGENCE.resnet18.model_copy(update={"batch_sizes": [16, 64]})
    return CONVERGENCE.model_copy(update={**images, "lenet": lenet, "resnet18": resnet18})


def split():
    images, labels = synthetic.fashion(256, 0)
    return Split(images, labels.astype("int64"))


def test_a_small_real_run_repeats_and_has_all_variants(one_thread):
    few, images = small(), split()
    first, again = (measure(few, DEVICES, images, images.first(40), 0) for _ in range(2))
    assert first == again
    epochs = [m for m in first if m.experiment == "epochs"]
    assert [(m.variant, m.columns["batch_size"]) for m in epochs] == [
        *((FIXED, n) for n in (16, 64)),
        (SCALED, 64),
        *((MOMENTUM, n) for n in (16, 64)),
        (LARS, 64),
    ]
    assert all(0 < value <= 1 for m in epochs for value in m.values)
    ages = [m.columns["staleness"] for m in Results(first).series("short_run", PLAIN)]
    assert ages == [0, 1]


class OfTwoMinds(RunsToTarget):
    """Judging seeds need 1 epoch at rate 4, others at rate 16; each octave away adds one."""

    def run(self, lr, batch_size, i, step=None):
        octaves = abs(np.log2(lr(99.0) / (4 if i < self.params.num_seeds else 16)))
        return RunToTarget((1 + octaves,), (0.9,), "reached")


def test_an_optimizers_rate_is_chosen_and_judged_by_different_seeds():
    train_set = Images(torch.zeros(1), torch.zeros(1))
    trainer = OfTwoMinds("lenet", 14, CONVERGENCE.lenet, train_set, train_set, 0)
    found = Results(list(measure_epochs(trainer)))
    assert found.samples("best_rate", LARS).values == (16,)
    assert found.samples("epochs", LARS).values == (3,) * 8


@pytest.mark.parametrize("best", [0.25, 1.0, 8.0])
def test_the_search_for_a_rate_ends_at_the_least_cost(best):
    asked = []

    def cost(rate):
        asked.append(rate)
        return (abs(np.log2(rate / best)), 0.0)

    assert climb(cost, 1.0) == best
    assert len(asked) == len(set(asked)), "no rate is tried twice"


def test_rates_that_miss_the_target_rank_last_and_by_accuracy():
    costs = {1.0: (np.inf, -0.3), 2.0: (np.inf, -0.5), 4.0: (7.0, -0.6), 8.0: (np.inf, -0.7)}
    assert climb(lambda rate: costs[rate], 1.0) == 4.0


def test_params_that_cannot_be_measured_are_refused(project):
    bad = [
        ("lenet.batch_sizes", [64, 32], "lenet: expected growing batch_sizes, got [64, 32]"),
        ("train_images", 2000, "expected batch_sizes of at most train_images (2000), got 4096"),
        ("lenet.num_seeds", 0, "expected 2 seeds of lenet at least, got 0"),
        ("lenet.num_seeds", 1, "lenet: expected 2 num_seeds at least, or 0 for none, got 1"),
        ("resnet18.num_seeds", 1, "resnet18: expected 2 num_seeds at least"),
        ("staleness", [1, 3], "growing staleness from 0, got [1, 3]"),
        ("stems.images", 8, "stems: expected batch_size of at most images (8), got 16"),
        ("image_side", 20, "image_side: expected 14 or 28, got 20"),
    ]
    for key, value, complaint in bad:
        (project / "params.yaml").write_text(committed_params())
        edit_params({f"convergence.{key}": value})
        with pytest.raises(ParamsError, match=re.escape(complaint)):
            load(Params)


REACHED, CUT = [1.0] * 8, [0.0] * 8
BUDGET = [10.0] * 8


def share(
    few: list[float], few_reached: list[float], many: list[float], many_reached: list[float]
) -> Finding:
    """Return the epochs at batch size 64 as a percentage of those at 256, at one rate."""
    made = [
        replace(by_seed(experiment, FIXED, y), columns={"net": "lenet", "batch_size": n})
        for n, runs in ((64, (few, few_reached)), (256, (many, many_reached)))
        for experiment, y in zip(("epochs", "reached"), runs, strict=True)
    ]
    return findings(Results(made))["small_batch_share"]


def test_a_cut_run_bounds_its_share_from_above():
    few = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    found = share(few, REACHED, BUDGET, REACHED)
    assert (found.value, found.low, found.high) == pytest.approx((45, 10, 80))
    assert (found.n, found.over) == (8, Over.SEEDS)
    cut = share(few, REACHED, BUDGET, CUT)
    assert (cut.value, cut.low, cut.high) == pytest.approx((45, 0, 80))
    assert share(few, [1.0] * 6 + [0.0] * 2, BUDGET, REACHED).missing.about == "2 of 8"


def test_cut_runs_can_confirm_but_not_refute():
    fewer = Range(high=98)
    early = share([5.0] * 8, REACHED, BUDGET, CUT)
    assert decide(early, fewer) is Verdict.CONFIRMED
    late = share([9.95] * 8, REACHED, BUDGET, CUT)
    assert decide(late, fewer) is Verdict.INCONCLUSIVE, "how much more the other needs is not known"


def test_what_was_not_trained_is_not_judged():
    how = {"dataset": "fashion-mnist", **settings(CONVERGENCE), "lenet_tuned_batch": 0}
    untuned = verdicts("convergence", how, rows_of(lenet_results()))
    assert untuned["G11a"] is Verdict.CONFIRMED
    assert untuned["G11b"] is Verdict.NOT_TESTABLE
    assert untuned["E2b"] is Verdict.NOT_TESTABLE
