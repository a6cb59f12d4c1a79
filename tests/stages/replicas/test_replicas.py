"""What `replicas` derives and its page says, from made-up results; and one small real run."""

from stages.replicas import __main__ as replicas
from stages.replicas import section
from stages.replicas.names import (
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
from tests import smallest
from tests.helpers import draw
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
    draw(part, tmp_path / "figures")
    assert [p.stem for p in (tmp_path / "figures").iterdir()] == [f.name for f in part.figures]
    text = " ".join(part.findings)
    assert "equal to the bit at every step, and end within 1e-07 of" in text
    assert f"“{ALIASING}” ends 0.04 away" in text
    assert f"by 128 % of its length ({WITH_BATCH_NORM})" in text
    assert "2e-05 % (LeNet, without; medians of 8 seed(s))" in text
    assert "0.062 apart after 2 steps" in text
    for table in part.tables:
        assert all(len(row) == len(table.header) for row in table.rows)
    second = next(row for row in part.tables[1].rows if row[0] == replica_of(REBINDING, 2))
    assert second[2:] == ["70.3", "70.0", "70.7", "8"]
    assert "ran for 10 epoch(s) of 60,000 images" in part.tables[1].note


def test_the_page_of_replicas_that_part(tmp_path):
    write_replicas(tmp_path, replicas_curves(ENDS | {IN_PLACE: (1e-7, 1e-7)}))
    assert "replicas are NOT equal" in section.section(tmp_path / "replicas").findings[0]


def test_batch_norm_makes_devices_matter_and_lenet_does_not():
    curves, _ = smallest.results("replicas")
    y = {(c.demo, c.series): c.y for c in curves}
    assert y[GRADIENT_CHANGE, WITH_BATCH_NORM].min() > 1
    assert y[GRADIENT_CHANGE, WITHOUT_BATCH_NORM].max() < 1e-3
    assert len(y[FROM_ONE_DEVICE, IN_PLACE]) == 3, "its steps"
    assert [len(y[ACCURACY, replica_of(IN_PLACE, i)]) for i in (1, 2)] == [1, 1], "a seed each"
