"""Recipes that each add one technique, and runs that train by them."""

import itertools
from dataclasses import replace

import pytest
import torch

from lab.core.files import write_json, write_rows
from lab.core.params import load
from lab.results.measurements import Measurement, Results
from stages.together import __main__ as stage
from stages.together.findings import findings
from stages.together.measure.names import (
    BASELINE,
    BF16,
    HE,
    MOMENTUM,
    ONE_CYCLE,
    SAME_STEPS,
    TECHNIQUES,
)
from stages.together.measure.one_run import train_recipe
from stages.together.measure.params import Params
from stages.together.measure.recipes import RecipeRun, recipes, timed_in_part
from stages.together.measure.time_to_accuracy import NOTES_RUN, seconds_to
from stages.together.page.figures import (
    FASTER,
    FEWER,
    MISSED,
    NO_GAIN,
    groups_of,
    staircase,
    values,
)
from tests.helpers import edit_params, write_data

RECIPES = {recipe.technique: recipe for recipe in recipes(bf16=True)}
SMALL = {
    "train_images": 600,
    "test_images": 100,
    "max_epochs": 2,
    "timed_steps": 2,
    "timed_processes": 1,
    "seeds": 1,
    "best_seeds": 3,
}


@pytest.fixture
def params(project):
    write_data(project / "data", train=600, test=100)
    edit_params({f"together.{key}": value for key, value in SMALL.items()})
    threads = torch.get_num_threads()
    yield load(Params)
    torch.set_num_threads(threads)


def test_each_recipe_adds_one_technique():
    """Momentum and a schedule also change the rate; a schedule also changes the epochs."""
    for below, recipe in itertools.pairwise(RECIPES.values()):
        before, after = below.model_dump(), recipe.model_dump()
        changed = {key for key in after if before[key] != after[key]} - {
            "technique",
            "lr",
            "epochs",
        }
        assert len(changed) == 1, recipe.technique


def test_the_notes_loop_in_memory_and_the_engine_take_the_same_steps(params):
    """He initialization learns early, so that the accuracy shows a difference."""
    loop, engine = (
        [a for _, a in train_recipe(recipe.but(net="lenet_he"), 3, RecipeRun(101, 2), params)]
        for recipe in (RECIPES["skip pixels LeNet never uses"], RECIPES["reuse freed memory"])
    )
    assert loop == pytest.approx(engine, abs=2)
    assert max(loop) > 20


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=lambda recipe: recipe.technique)
def test_a_part_of_an_epoch_gives_the_seconds_of_a_whole_one(params, recipe):
    [(seconds, accuracy)] = train_recipe(recipe, 0, RecipeRun(0, 1, in_part=True), params)
    assert seconds > 0
    assert accuracy is None


def test_at_a_constant_rate_training_ends_at_the_target_and_one_cycle_at_its_end(params):
    at_once = train_recipe(RECIPES[HE], 0, RecipeRun(1, 5), params)
    assert len(at_once) == 1
    whole = train_recipe(RECIPES[ONE_CYCLE], 0, RecipeRun(1, 3), params)
    assert len(whole) == 3
    assert sorted(s for s, _ in whole) == [s for s, _ in whole], "seconds since the start"


def test_without_instructions_for_bfloat16_all_recipes_are_in_float32():
    found = recipes(bf16=False)
    assert {recipe.precision for recipe in found} == {"fp32"}
    names = [recipe.technique for recipe in found]
    assert names == [name for name in TECHNIQUES if name != BF16]
    assert timed_in_part(names, epochs_known=False) == [*TECHNIQUES][:4], (
        "the next is trained whole"
    )
    assert timed_in_part(names, epochs_known=True) == [*TECHNIQUES][:5]


def epochs(recipe, target, seed, seconds, percents):
    """Yield a run's measurements; each epoch takes `seconds`."""
    columns = {"target": target, "seed": seed}
    for epoch, percent in enumerate(percents, 1):
        yield Measurement("seconds", recipe, epoch, (seconds * epoch,), columns=columns)
        if percent is not None:
            yield Measurement("accuracy", recipe, epoch, (percent,), columns=columns)


MEASURED = [
    Measurement(  # in three processes
        "seconds", BASELINE, 1, (90.0, 19.0, 20.0), columns={"target": 0, "seed": 0}
    ),
    *epochs(BASELINE, 0, 1, 22.0, [None]),
    *epochs(BF16, 83, 0, 5.0, [50, 84]),
    *epochs(BF16, 83, 1, 6.0, [10, 82.9, 83]),
    *epochs(ONE_CYCLE, 83, 0, 4.0, [82.5]),
    *epochs(ONE_CYCLE, 83, 1, 4.2, [83.6]),
    *(m for seed in (0, 1) for m in epochs(ONE_CYCLE, 90, seed, 4.0, [91, 89])),
]
RESULTS = Results(MEASURED)


def test_at_a_constant_rate_each_seeds_first_epoch_at_the_accuracy_counts():
    found = seconds_to(RESULTS, BF16, 83)
    assert (found.seconds, found.epochs, found.reached) == ((10.0, 18.0), (2, 3), True)
    assert found.median == 14.0
    assert found.accuracy == pytest.approx(83.5)
    assert seconds_to(RESULTS, BF16, 84) is None, "trained no further than 83 %"
    exactly = Results([*epochs(BF16, 83, 0, 5.0, [83, 84])])
    assert seconds_to(exactly, BF16, 83).epochs == (1,)
    longer = [replace(m, columns=m.columns | {"target": 84}) for m in MEASURED if m.variant == BF16]
    missed = seconds_to(Results(longer), BF16, 84)
    assert (missed.seconds, missed.reached) == ((10.0, 18.0), False), "one seed ends before"


def test_what_was_timed_in_part_takes_as_many_epochs_as_the_same_steps_in_bfloat16():
    found = seconds_to(RESULTS, BASELINE, 83)
    assert (found.seconds, found.extrapolated, found.reached) == ((40.0, 66.0), True, True)
    assert seconds_to(RESULTS, BASELINE, 84) is None


def test_what_was_timed_in_part_takes_as_many_epochs_as_the_notes_run_of_train():
    in_part = [m for each in SAME_STEPS for m in epochs(each, 0, 0, 20.0, [None])]
    results = Results([*epochs(NOTES_RUN, 83, 0, 12.0, [10, 82.9, 83]), *in_part])
    assert seconds_to(results, BASELINE, 83).seconds == (60.0,)
    assert seconds_to(results, BF16, 83).extrapolated


NOTES_EPOCHS = {  # accuracies of the notes' run, changed params, whether its epochs count
    "it reached the accuracy": ([0.5, 0.84], {}, True),
    "it did not": ([0.5, 0.82], {}, False),
    "it reached one of two": ([0.5, 0.84], {"together.targets_on_the_way": [83, 90]}, False),
    "with more seeds than it has": ([0.5, 0.84], {"together.seeds": 2}, False),
    "on other images": ([0.5, 0.84], {"together.train_images": 600}, False),
    "by another recipe": ([0.5, 0.84], {"train.runs.lenet_1gpu.batch_size": 128}, False),
}


@pytest.mark.parametrize(
    ("accuracies", "changed", "known"), NOTES_EPOCHS.values(), ids=NOTES_EPOCHS
)
def test_the_notes_run_gives_the_epochs_if_it_took_the_same_steps(
    project, accuracies, changed, known
):
    edit_params(changed)
    folder = project / "reports" / "train" / NOTES_RUN
    write_json(folder / "conditions.json", {"threads_per_device": 1, "net": "lenet"})
    of_all = {"seed": 0, "seconds": 12.0, "device_kind": "cpu"}
    rows = [{"epoch": i, "test_accuracy": a, **of_all} for i, a in enumerate(accuracies, 1)]
    write_rows(folder, rows)
    assert bool(stage.notes_run(load(Params))) == known


@pytest.fixture
def record_83(project):
    """Write a run of two seeds."""
    folder = project / "reports" / "train" / "record_83"
    write_json(folder / "conditions.json", {"threads_per_device": 2, "net": "mlp"})
    rows = [
        {"epoch": epoch, "seed": seed, "test_accuracy": 0.84, "seconds": 1.0, "device_kind": "cpu"}
        for seed in (3, 4)
        for epoch in (1, 2)
    ]
    write_rows(folder, rows)


def test_each_seed_of_a_run_has_its_seconds_since_its_own_start(record_83):
    found = Results(list(stage.trained("record_83", 83)))
    for seed in (3, 4):
        assert found.samples("seconds", "record_83", seed=seed).values == (1.0, 2.0)


def test_the_fastest_row_is_trained_with_more_seeds_and_so_is_one_that_then_becomes_it(
    params, record_83, monkeypatch
):
    """The second seed of one cycle is slow, and the row above it becomes the fastest.

    A record has only the seeds with which `train` trained it.
    """
    asked = []

    def call(name, function, recipe, seed, run, params):
        asked.append((recipe.technique, seed))
        slow = 3.0 if (recipe.technique, seed) == (ONE_CYCLE, 1) else 0.0
        return [
            (10.0 + slow - [*TECHNIQUES].index(recipe.technique) % 9, None if run.in_part else 84.0)
        ]

    monkeypatch.setattr(stage, "call_in_subprocess", call)
    monkeypatch.setattr(stage, "RECORDS", ("record_83",))
    results = Results(stage.measure(params))
    assert [seed for recipe, seed in asked if recipe == ONE_CYCLE] == [0, 1]
    assert [seed for recipe, seed in asked if recipe == MOMENTUM] == [0, 1, 2]
    assert len(asked) == len({recipe for recipe, _ in asked}) + 1 + 2
    assert findings(results)["best_to_83_s"].n == 3
    assert len(results.series("seconds", "record_83")) == 2 * 2
    assert findings(results)["record_83_s"].n == 2


def test_one_cycle_counts_to_its_end_and_by_the_mean_of_its_seeds():
    found = seconds_to(RESULTS, ONE_CYCLE, 83)
    assert (found.seconds, found.reached, found.extrapolated) == ((4.0, 4.2), True, False)
    assert found.accuracy == pytest.approx(83.05)
    assert not seconds_to(RESULTS, ONE_CYCLE, 90).reached, "not in the end, where it counts"


@pytest.mark.parametrize(("percents", "good"), [((81, 84), False), ((82, 84), True)])
def test_one_cycle_reaches_the_accuracy_by_the_mean_of_its_seeds(percents, good):
    runs = (epochs(ONE_CYCLE, 83, seed, 4.0, [each]) for seed, each in enumerate(percents))
    assert seconds_to(Results([m for run in runs for m in run]), ONE_CYCLE, 83).reached == good


@pytest.mark.parametrize(("percents", "good"), [((82, 85), False), ((83, 84), True)])
def test_a_constant_rate_reaches_the_accuracy_if_each_seed_does(percents, good):
    runs = (epochs(HE, 83, seed, 4.0, [each]) for seed, each in enumerate(percents))
    assert seconds_to(Results([m for run in runs for m in run]), HE, 83).reached == good


ONE_SEED = Results(
    [
        Measurement("seconds", BASELINE, 1, (20.0,), columns={"target": 0, "seed": 0}),
        *epochs(BF16, 83, 0, 5.0, [50, 84]),
        *epochs(HE, 83, 0, 6.0, [83]),
        *epochs(MOMENTUM, 83, 0, 4.0, [60, 70]),
        *epochs(ONE_CYCLE, 83, 0, 5.0, [84]),
    ]
)


def test_a_row_gains_by_faster_or_by_fewer_epochs_or_not_at_all():
    """Momentum never reaches the accuracy, so the row after it is compared with the one before."""
    groups = groups_of(staircase(ONE_SEED, 83))
    assert [(gain, [row.technique for _, row in of]) for gain, of in groups] == [
        (FASTER, [BF16]),
        (FEWER, [HE]),
        (MISSED, [MOMENTUM]),
        (FASTER, [ONE_CYCLE]),
    ]
    slower = epochs(MOMENTUM, 83, 0, 7.0, [83])
    groups = groups_of(staircase(Results([*ONE_SEED.measurements[:-3], *slower]), 83))
    assert groups[-1][0] == NO_GAIN


def test_the_two_gains_in_the_title_multiply_to_the_speed_up():
    """The fastest row may have more seeds, and some may end below the accuracy."""
    more = [m for i, s in ((1, 4.0), (2, 6.0)) for m in epochs(ONE_CYCLE, 83, i, s, [82.9])]
    found = values(results := Results([*ONE_SEED.measurements, *more]), findings(results))
    assert (found["below"], found["speedup"].value, found["speedup"].decides) == (2, 8.0, False)
    assert (found["best_s"].value, found["best_s"].low, found["best_s"].high) == (5.0, 4.0, 6.0)
    found = values(ONE_SEED, findings(ONE_SEED))
    assert found["best"].technique == ONE_CYCLE
    assert (found["by_faster_epochs"], found["by_fewer_epochs"]) == (4.0, 2.0)
    assert found["speedup"].value == pytest.approx(8.0)
