"""A run whose net cannot be compiled ends with a one-line error."""

import pytest

from lab.machine.compiler_errors import compiler_errors
from lab.machine.devices import missing_compiler
from tests.helpers import edit_params, errors, run_stage, small_run, write_data


@pytest.mark.slow
@pytest.mark.skipif(bool(missing_compiler()), reason=missing_compiler())
@pytest.mark.parametrize("strategy", ["replicas", "ddp"])
def test_a_cache_that_cannot_be_created_is_reported_with_its_variable(project, strategy):
    write_data(project / "data", train=64, test=16)
    small = small_run(
        compile="default", train_images=64, test_images=16, batch_size=32, strategy=strategy
    )
    edit_params({"train.runs": {"one": small}})
    result = run_stage("stages.train", "one", TORCHINDUCTOR_CACHE_DIR="/proc/none")
    assert result.returncode == 4
    [line] = errors(result)
    assert "/proc/none" in line
    assert "TORCHINDUCTOR_CACHE_DIR=" in line
    assert not (project / "models").exists()


def test_other_errors_pass_through_unchanged():
    with pytest.raises(RuntimeError, match="of its own"), compiler_errors():
        raise RuntimeError("of its own")
