"""The pages' take-home code waits for GPUs, and shows its point on them."""

import linecache
from functools import partial

import pytest
import simulated_cuda
import torch
import torch.distributed as dist

from tests.helpers import ROOT
from tests.stages.test_do_this import FILES, POINTS, numbers

ON_GPUS = [path for path in FILES if "cuda" in path.read_text()]
SMALLER = {  # the sizes for GPUs would take a CPU minutes
    "bench_hardware": {"8192": "256", "2**25": "2**16"},
    "bench_overlap": {"4000": "100"},
    "bench_parallel": {"4000": "100"},
}
CLOCKS_THAT_DO_NOT_WAIT = {
    "bench_async": {"called = time.perf_counter() - start"}  # when a call returns
}


@pytest.fixture
def only_rank(monkeypatch):
    """The environment of torchrun's only process."""
    own = {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}
    for name, value in (own | {"TORCHELASTIC_RUN_ID": "one"}).items():
        monkeypatch.setenv(name, value)
    # gloo stands in for NCCL, and with gloo DDP also communicates between CPUs
    begin = partial(dist.init_process_group, "cpu:gloo,cuda:nccl")
    monkeypatch.setattr(dist, "init_process_group", begin)


def lines_noted(since: int) -> dict[str, set[str]]:
    """Return the lines of stages that were noted, by kind."""
    found: dict[str, set[str]] = {}
    for kind, _, stack in simulated_cuda.notes[since:]:
        for place in [each.split()[0] for each in stack if each.startswith("stages/")][:1]:
            path, _, line = place.partition(":")
            found.setdefault(kind, set()).add(linecache.getline(f"{ROOT}/{path}", int(line)))
    return {kind: {line.strip() for line in lines} for kind, lines in found.items()}


@pytest.mark.parametrize("file", ON_GPUS, ids=lambda file: file.parent.name)
def test_clocks_wait_and_the_output_shows_the_point(file, only_rank, capsys):
    name, program = file.parent.name, file.read_text()
    for size, smaller in SMALLER.get(name, {}).items():
        assert size in program
        program = program.replace(size, smaller)
    for gpu in range(torch.cuda.device_count()):
        torch.cuda.synchronize(gpu)  # it may have work of an earlier test
    simulated_cuda.forget_first_calls()
    before = len(simulated_cuda.notes)
    exec(compile(program, file, "exec"), {"__name__": "__main__"})  # noqa: S102
    noted = lines_noted(before)
    assert noted["first"], "it computes on a GPU"
    ends = {line for line in noted.get("clock", set()) if "- start" in line}  # of a measured time
    assert ends == CLOCKS_THAT_DO_NOT_WAIT.get(name, set())
    assert "race" not in noted
    told = capsys.readouterr().out.splitlines()
    assert name == "scaling" or POINTS[name](numbers(told)), told
