"""The ladder: each rung one lesson above the one before, and runs that train by them."""

import itertools
from dataclasses import asdict, replace

import pytest
import torch

from lab.core.params import load
from stages.together import __main__ as together
from stages.together.measure import ladder, names, one_run
from stages.together.measure.params import Params
from stages.together.measure.seconds_to import seconds_to
from tests.helpers import edit_params, write_data

LADDER = {rung.lesson: rung for rung in ladder.climb()}
SMALL = {"train_images": 600, "test_images": 100, "max_epochs": 2, "timed_steps": 2}


@pytest.fixture
def params(project):
    write_data(project / "data", train=600, test=100)
    edit_params({f"together.{key}": value for key, value in SMALL.items()})
    threads = torch.get_num_threads()
    yield load(Params)
    torch.set_num_threads(threads)


def test_each_rung_adds_one_lesson():
    """Momentum, and a schedule, need a rate of their own; a schedule its numbers of epochs."""
    for below, rung in itertools.pairwise(LADDER.values()):
        before, after = asdict(below), asdict(rung)
        changed = {key for key in after if before[key] != after[key]} - {"lesson", "lr", "epochs"}
        assert len(changed) == 1, rung.lesson


def test_rungs_that_are_timed_in_part_take_the_steps_of_the_one_in_bfloat16():
    steps = ("net", "batch_size", "lr", "momentum", "schedule", "num_devices")
    assert names.timed_in_part(names.RUNGS) == list(names.RUNGS[:5])
    for lesson in names.SAME_STEPS:
        assert all(
            getattr(LADDER[lesson], key) == getattr(LADDER[names.BF16], key) for key in steps
        ), lesson


def test_the_notes_loop_in_memory_and_the_engine_take_the_same_steps(params):
    """From weights that learn at once, so that the accuracy tells."""
    loop, engine = (
        [a for _, a in one_run.epochs_of(replace(rung, net="lenet_he"), 3, 101, 2, False, params)]
        for rung in (LADDER[names.SEEN_PIXELS], LADDER[names.KEPT_MEMORY])
    )
    assert loop == pytest.approx(engine, abs=2)
    assert max(loop) > 20


@pytest.mark.parametrize("rung", LADDER.values(), ids=lambda rung: rung.lesson)
def test_a_part_of_an_epoch_tells_the_seconds_of_a_whole_one(params, rung):
    [(seconds, accuracy)] = one_run.epochs_of(rung, 0, 0, 1, True, params)
    assert seconds > 0
    assert accuracy is None


def test_at_a_constant_rate_training_ends_at_the_target_and_one_cycle_at_its_end(params):
    at_once = one_run.epochs_of(LADDER[names.HE], 0, 1, 5, False, params)
    assert len(at_once) == 1
    whole = one_run.epochs_of(LADDER[names.ONE_CYCLE], 0, 1, 3, False, params)
    assert len(whole) == 3
    assert sorted(s for s, _ in whole) == [s for s, _ in whole], "seconds since the start"


def test_runs_are_those_that_the_params_ask_for(params):
    p = params.together
    part = [together.Asked(0, 1, in_part=True)]
    assert list(together.runs_of(LADDER[names.NOTES], p, names.RUNGS)) == part
    whole = p.model_copy(update={"whole": True})
    to_83 = [together.Asked(83, 2, in_part=False)]
    assert list(together.runs_of(LADDER[names.NOTES], whole, names.RUNGS)) == to_83
    assert list(together.runs_of(LADDER[names.HE], p, names.RUNGS)) == to_83
    for rung, targets in ((names.ONE_CYCLE, p.targets_on_the_way), (names.TWO_DEVICES, p.targets)):
        epochs = LADDER[rung].epochs
        one_cycle = [together.Asked(target, epochs[target], in_part=False) for target in targets]
        assert list(together.runs_of(LADDER[rung], p, names.RUNGS)) == one_cycle


def test_metrics_are_of_the_first_rung_and_the_last(params):
    found = together.summarise(ROWS, params.together)
    assert found[names.BY_THE_NOTES.format(83)] == 53.0
    assert found[names.BY_ALL.format(83)] == 4.1
    assert found[names.SPEEDUP.format(83)] == round(53 / 4.1, 2)
    assert names.SPEEDUP.format(90) not in found, "never as good"


def test_without_instructions_for_bfloat16_the_ladder_is_in_float32():
    found = ladder.ladder(bf16=False)
    assert {rung.precision for rung in found} == {"fp32"}
    lessons = [rung.lesson for rung in found]
    assert lessons == [lesson for lesson in names.RUNGS if lesson != names.BF16]
    assert names.timed_in_part(lessons) == list(names.RUNGS[:4]), "the next is trained whole"


def test_a_record_is_an_entry_of_train_runs(params):
    found = {record.lesson: record for record in one_run.records(params)}
    settings = params.train.runs["record_92"]
    record = found["record_92"]
    assert (record.net, record.lr, record.momentum) == ("convnet", settings.lr, settings.momentum)
    runs = list(together.runs_of(record, params.together, names.RUNGS))
    assert runs == [together.Asked(92, settings.num_epochs, in_part=False)]


def row(rung, target, seed, epoch, seconds, accuracy):
    return {
        names.RUNG: rung,
        names.TARGET: target,
        names.SEED: seed,
        names.EPOCH: epoch,
        names.SECONDS: seconds,
        names.ACCURACY: accuracy,
    }


ROWS = [
    row(names.NOTES, 0, 0, 1, 20.0, ""),
    row(names.NOTES, 0, 1, 1, 22.0, ""),
    *[row(names.BF16, 83, 0, e, 5.0 * e, accuracy) for e, accuracy in ((1, 50), (2, 84))],
    *[row(names.BF16, 83, 1, e, 6.0 * e, a) for e, a in ((1, 10), (2, 82.9), (3, 83))],
    row(names.ONE_CYCLE, 83, 0, 1, 4.0, 82.5),
    row(names.ONE_CYCLE, 83, 1, 1, 4.2, 83.6),
    *[row(names.ONE_CYCLE, 90, s, e, 4.0 * e, a) for s in (0, 1) for e, a in ((1, 91), (2, 89))],
]


def test_at_a_constant_rate_the_first_epoch_that_is_as_good_counts_for_each_seed():
    found = seconds_to(ROWS, names.BF16, 83)
    assert (found.seconds, found.epochs, found.reached) == ((10.0, 18.0), (2, 3), True)
    assert found.median == 14.0
    assert found.accuracy == pytest.approx(83.5)
    assert seconds_to(ROWS, names.BF16, 84) is None, "trained no further than 83 %"
    longer = [{**row, names.TARGET: 84} for row in ROWS if row[names.RUNG] == names.BF16]
    missed = seconds_to(longer, names.BF16, 84)
    assert (missed.seconds, missed.reached) == ((10.0, 18.0), False), "one seed ends before"


def test_what_was_timed_in_part_takes_as_many_epochs_as_the_same_steps_in_bfloat16():
    found = seconds_to(ROWS, names.NOTES, 83)
    assert (found.seconds, found.extrapolated, found.reached) == ((40.0, 66.0), True, True)
    assert seconds_to(ROWS, names.NOTES, 84) is None


def test_one_cycle_counts_to_its_end_and_by_the_mean_of_its_seeds():
    found = seconds_to(ROWS, names.ONE_CYCLE, 83)
    assert (found.seconds, found.reached, found.extrapolated) == ((4.0, 4.2), True, False)
    assert found.accuracy == pytest.approx(83.05)
    assert not seconds_to(ROWS, names.ONE_CYCLE, 90).reached, "not in the end, where it counts"


def test_what_was_not_measured_has_no_seconds():
    assert seconds_to(ROWS, names.TWO_DEVICES, 83) is None
    assert seconds_to(ROWS, names.ONE_CYCLE, 75) is None
    assert seconds_to(ROWS[:1], names.NOTES, 83) is None
