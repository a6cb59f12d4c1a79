import pytest

from lab.compare import mark, table


@pytest.mark.parametrize(
    ("old", "new", "old_iqr", "new_iqr", "other_hardware", "expected"),
    [
        (10.0, 10.0, 1.0, 1.0, True, "same"),
        (None, 3, 0, 0, False, "new"),
        (3, None, 0, 0, True, "gone"),
        (10.0, 10.5, 0.5, 0.5, False, "within noise"),
        (10.0, 13.0, 0.5, 0.5, False, "changed"),
        (10.0, 10.1, 0.001, 0.0, False, "within noise"),  # under two percent
        (83.11, 83.12, 0, 0, False, "changed"),  # exact metrics have no noise
        ("abc", "abd", 0, 0, False, "changed"),
        (10.0, 99.0, 0.5, 0.5, True, "other hardware"),
    ],
)
def test_a_change_is_marked_for_what_it_is(old, new, old_iqr, new_iqr, other_hardware, expected):
    assert mark(old, new, old_iqr, new_iqr, other_hardware) == expected


def test_the_table_shows_medians_with_their_spread_and_leaves_out_what_is_the_same():
    metrics = {
        "reports/train/a/metrics.json": {
            "epoch_s": {"old": 10.0, "new": 20.0, "diff": 10.0},
            "epoch_s_iqr": {"old": 0.5, "new": 0.25, "diff": -0.25},
            "test_accuracy_percent": {"old": 83.0, "new": 83.0, "diff": 0},
            "dataset": {"old": "fashion-mnist", "new": "synthetic"},
        }
    }
    assert [row[1:] for row in table(metrics, other_hardware=False)] == [
        ("epoch_s", "10 (IQR 0.5)", "20 (IQR 0.25)", "changed"),
        ("dataset", "fashion-mnist", "synthetic", "changed"),
    ]
