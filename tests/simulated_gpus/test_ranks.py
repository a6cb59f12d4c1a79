"""Training in several processes, each with its own GPU or a share of one."""

from collections import Counter
from pathlib import Path

import pytest

from tests.helpers import edit_params, small_run
from tests.simulated_gpus.machines import prepare
from tests.simulated_gpus.simulation import Machine, places

pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def trained(built: Path, tmp_path_factory: pytest.TempPathFactory):
    """trained(gpus, **recipe): the bytes of a run's weights, and its output."""

    def train(gpus: int, **recipe: object) -> tuple[bytes, str]:
        folder = tmp_path_factory.mktemp("run")
        work = folder / "work"
        prepare(work, gpus)
        edit_params({"train.runs.run": small_run(**recipe)}, path=work / "params.yaml")
        ended, notes = Machine(built, gpus).run(work, folder / "notes", "stages.train", "run")
        assert ended.returncode == 0, ended.stderr
        assert places(notes, "clock") == places(notes, "race") == set()
        if recipe.get("strategy") == "ddp":
            used = Counter(note.what for note in notes if note.kind == "context")
            ranks = Counter(f"cuda:{rank % gpus}" for rank in range(int(recipe["num_gpus"])))
            assert used == ranks, "a rank uses its own GPU alone"
        return (work / "models" / "run.pt").read_bytes(), ended.stdout

    return train


def test_shards_learn_the_same_in_four_processes_as_in_one(trained):
    alone, _ = trained(1, shards=8)
    for gpus, kind in ((4, "4 x cuda,"), (2, "4 x cuda-shared,")):
        together, said = trained(gpus, shards=8, num_gpus=4, strategy="ddp")
        assert kind in said
        assert together == alone


def test_two_processes_learn_the_same_as_two_replicas_in_one(trained):
    replicas, _ = trained(2, num_gpus=2)
    processes, said = trained(2, num_gpus=2, strategy="ddp")
    assert "2 x cuda," in said
    assert processes == replicas
