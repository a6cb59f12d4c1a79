"""The ladder: each rung one lesson above the one before, and runs that train by them."""

import itertools
from dataclasses import asdict, replace

import pytest
import torch

from lab.core.params import load
from stages.together import __main__ as together
from stages.together.measure import ladder, names, one_run
from stages.together.measure.params import Params
from tests.helpers import edit_params, write_data
from tests.stages.together.test_seconds_to import ROWS

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
