"""What `replicas` derives and its page says, from made-up results; and one small real run."""

import pytest

from stages.replicas import __main__ as replicas
from stages.replicas.measure.names import (
    ACCURACY,
    ALIASING,
    APART,
    BATCH_NORM_CHANGE,
    EPOCHS,
    FROM_ONE_DEVICE,
    GRADIENT_CHANGE,
    IN_PLACE,
    REBINDING,
    WITH_BATCH_NORM,
    WITHOUT_BATCH_NORM,
    millionths,
    replica_of,
)
from stages.replicas.page import section
from tests import smallest
from tests.stages.replicas.made_up import ENDS, PARAMS, replicas_curves, write_replicas


def test_metrics_are_the_ends_of_the_curves():
    m = replicas.summarise(replicas_curves(), PARAMS)
    assert m[millionths(IN_PLACE, FROM_ONE_DEVICE)] == 0.1
    assert m[millionths(REBINDING, APART)] == 20_000
    assert m[millionths(ALIASING, FROM_ONE_DEVICE)] == 40_000
    assert (m[BATCH_NORM_CHANGE], m[EPOCHS]) == (128, 10)


def test_the_page(tmp_path):
    write_replicas(tmp_path)
    part = section.section(tmp_path / "replicas")
    for figure in part.figures:
        figure.draw(tmp_path / "figures")
    drawn = sorted(path.name for path in (tmp_path / "figures").iterdir())
    assert drawn == sorted(name for figure in part.figures for name in figure.files)
    assert "equal to the bit; note 001's leaves their weights 0.02 apart after 3" in part.answer
    text = " ".join(part.findings)
    assert "end within 1.0×10⁻⁷ of the weights of one device" in text
    assert "“replicas without a copy” ends farthest from one device's weights: 0.04" in text
    assert "with batch norm, by 128 % of its length" in text
    assert "without, by 2.0×10⁻⁵ % (medians; seeds: 8)" in text
    assert "0.062 apart after 2 steps" in text
    for table in part.tables:
        assert all(len(row) == len(table.header) for row in table.rows)
    second = next(
        row for row in part.tables[1].rows if row[0] == "note 001's all-reduce, replica 2"
    )
    assert second[2:] == ["70.3", "70.0", "70.7", "8"]
    assert "ran for 10 epochs of 60,000 images" in part.tables[1].note


def test_the_page_of_replicas_that_part(tmp_path):
    write_replicas(tmp_path, replicas_curves(ENDS | {IN_PLACE: (1e-7, 1e-7)}))
    assert "replicas are NOT equal" in section.section(tmp_path / "replicas").answer


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.0212, "0.021"), (12.34, "12"), (1.19e-7, "1.2×10⁻⁷"), (-0.5, "−0.5")],
)
def test_small_numbers_have_no_computer_exponents(value, text):
    assert section.small(value) == text


def test_batch_norm_makes_devices_matter_and_lenet_does_not():
    curves, _ = smallest.results("replicas")
    y = {(c.demo, c.series): c.y for c in curves}
    assert y[GRADIENT_CHANGE, WITH_BATCH_NORM].min() > 1
    assert y[GRADIENT_CHANGE, WITHOUT_BATCH_NORM].max() < 1e-3
    assert len(y[FROM_ONE_DEVICE, IN_PLACE]) == 3, "its steps"
    assert [len(y[ACCURACY, replica_of(IN_PLACE, i)]) for i in (1, 2)] == [1, 1], "a seed each"
