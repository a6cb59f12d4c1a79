"""What probe reads, derives and writes, and how it ends."""

from tests.helpers import edit_params, errors, run_stage


def test_probe_checks_all_params_before_it_writes_anything(project):
    edit_params({"train.runs.lenet_1gpu.lr": 0, "data.timeout_s": 0, "extra": 1})
    result = run_stage("stages.probe")
    assert result.returncode == 2
    assert len(errors(result)) == 3
    assert not (project / "reports").exists()
