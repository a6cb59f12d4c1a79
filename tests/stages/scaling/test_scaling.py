"""What scaling derives from its samples, and says on the page."""

import pytest

from lab.core.files import write_metrics, write_rows
from lab.parallel.allreduce_times import gradient_lengths
from lab.parallel.cost_model import MODELLED, allreduce_s
from lab.results.measurements import Measurement, Results, rows_of
from stages.scaling import names, predictor, step_parts
from stages.scaling import section as scaling_section
from tests import made_up
from tests.made_up import measurements, metrics
from tests.stages.scaling.made_up import GRADIENTS, LATE, LONGER, MS_PER_IMAGE, SCALING


def test_parts_that_follow_the_model_predict_steps_that_do_so_too():
    for kind, link in (("cpu-virtual", names.SHARED), ("cuda", names.OWN)):
        made = measurements("scaling", kind)
        m = metrics("scaling", made, kind)
        assert (m[names.LINK], m[names.WORLD_SIZE]) == (link, 2)
        assert len([one for one in made if one.demo == names.MEASURED]) == 3 * 4
        assert m[names.LENET_PER_IMAGE] == pytest.approx(1e3 * MS_PER_IMAGE["lenet"], rel=1e-3)
        for late in predictor.waits(Results(made)).values():
            assert 1e3 * late == pytest.approx(LATE, rel=1e-2)
        summed_ms = 1e3 * allreduce_s("star", 2, 8, 516_272, made_up.LINK, kind != "cuda")
        assert m[names.LENET_T2] == pytest.approx(LATE + summed_ms, rel=1e-2), "eight tensors"
        samples_too_low = 0.05
        expected = pytest.approx(100 * (1 - 1 / LONGER), abs=samples_too_low)
        assert m[names.MEAN_ERROR] == expected
        assert m[names.MAX_ERROR] == expected
        assert m[names.MAX_RULE_MEAN_ERROR] > m[names.MEAN_ERROR], "the steps do not overlap"
        crossing = 2 * (m[names.LENET_T2] - 1) / MS_PER_IMAGE["lenet"]
        assert m[names.LENET_CROSSING] == pytest.approx(crossing, rel=1e-2)


def test_made_up_gradients_are_as_many_and_as_large_as_the_nets():
    for net, lengths in GRADIENTS.items():
        real = gradient_lengths(net)
        assert (len(lengths), sum(lengths)) == (len(real), sum(real)), net


def test_predictions_are_written_as_they_are_compared():
    machines = predictor.fit_machines(measurements("scaling", "cpu-virtual"), 2, GRADIENTS)
    step = predictor.predict(SCALING, machines)[0]
    row, rows = step.row, {m.demo: m.values for m in step.beside_measured("cpu-virtual", 1)}
    assert (row["net"], row["allreduce"], row["images_per_device"]) == ("lenet", names.BY_NOTES, 8)
    assert row["predicted_ms"] == pytest.approx(rows[names.PREDICTED][0])
    assert row["max_ms"] == max(row["t1_ms"], row["t2_ms"])
    assert (rows[names.T1], rows[names.T2]) == ((row["t1_ms"],), (row["t2_ms"],))


def test_the_page_counts_the_steps_after_which_replicas_differ(tmp_path):
    made = measurements("scaling", "cpu-virtual")
    differ = next(i for i, m in enumerate(made) if m.demo == names.SAME_WEIGHTS)
    made[differ] = Measurement(names.SAME_WEIGHTS, made[differ].arm, 8, (0.0,), "", "cpu-virtual")
    write_rows(tmp_path, rows_of(made))
    write_metrics(tmp_path, metrics("scaling", made, "cpu-virtual"))
    [note] = [
        table.note for table in scaling_section.section(tmp_path).tables if "weights" in table.note
    ]
    assert "11 of 12 steps" in note


def test_messages_follow_a_computation_of_middling_length():
    arms = step_parts._arms(SCALING)
    after = [(name, x, arm) for demo, name, x, arm in arms if demo == names.AFTER]
    assert {(arm.net, arm.images, arm.gradients) for *_, arm in after} == {("lenet", 32, False)}
    assert [name for name, *_ in after] == [name for name in MODELLED for _ in range(3)]
    assert all(arm.num_bytes == x for _, x, arm in after)


def test_what_is_simulated_is_not_said_to_be_measured():
    made = measurements("scaling", "cpu-virtual")
    simulated = [m for m in made if m.demo.startswith((names.STRONG, names.WEAK))]
    assert {m.device_kind for m in simulated} == {"simulated"}
    assert all(m.device_kind != "simulated" for m in made if m not in simulated)
    assert max(m.x for m in simulated) == 1024
