from lab.results.measurements import Measurement, Results, measurements_of, rows_of, skip

MEASURED = [
    Measurement("copy", "pinned", 64, (1.5, 2.25, 2.0), "ms", "cuda", 0),
    Measurement("copy", "pinned", 32, (1.0,), "ms", "cuda", 0),
    Measurement("copy", "pageable", 64, (3.123456789, 4.0), "ms", "cuda", 4),
    skip("copy", "two GPUs", "needs 2 CUDA GPUs, found 1", "cuda"),
]


def test_rows_hold_every_sample_and_what_was_skipped():
    rows = rows_of(MEASURED)
    assert [row["value"] for row in rows] == [1.5, 2.25, 2.0, 1.0, 3.12346, 4.0, ""]
    assert [row["remark"] for row in rows] == [""] * 6 + ["skipped: needs 2 CUDA GPUs, found 1"]


def test_measurements_come_back_from_rows_as_text():
    texts = [{key: str(value) for key, value in row.items()} for row in rows_of(MEASURED)]
    back = measurements_of(texts)
    assert back[:2] + back[3:] == MEASURED[:2] + MEASURED[3:]
    assert back[2].values == (3.12346, 4.0)


def test_results_by_experiment_and_variant():
    results = Results(MEASURED)
    assert results.variants("copy") == ["pinned", "pageable"]
    assert [m.x for m in results.series("copy", "pinned")] == [32, 64]
    assert results.one("copy", "pinned", 64).summary.median == 2.0
    assert results.one("copy", "two GPUs") is None
    assert results.one("copy", "pinned", 48) is None
    assert [m.variant for m in results.skipped()] == ["two GPUs"]
