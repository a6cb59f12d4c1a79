"""Findings are read from each folder whose measurement has ended."""

from lab.results.derived import taken_under
from tests.lab.tools.made_up import write_run


def test_a_measurement_that_has_not_ended_is_left_out(tmp_path):
    for stage in ("bench_overlap", "bench_parallel"):
        write_run(tmp_path, stage)
    (tmp_path / "bench_parallel" / "conditions.json").unlink()
    assert list(taken_under(tmp_path)) == ["bench_overlap"]
