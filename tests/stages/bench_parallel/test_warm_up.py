"""A process's first run is timed before any other, later ones with and without empty caches."""

import torch

from lab.machine.devices import Devices
from lab.results.measurements import Results
from stages.bench_parallel.measure import names, one_start, warm_up
from tests.stages.bench_parallel.test_bench_parallel import PARAMS

ONE = Devices("cpu-virtual", [torch.device("cpu")] * 2, threads=1)


def test_runs_are_timed_in_order_and_caches_are_emptied_before_their_own_runs(monkeypatch):
    log: list[str] = []

    class Rubbish:
        def fill_(self, _: float) -> None:
            log.append("emptied")

    def seconds(_: torch.Tensor) -> float:
        log.append("run")
        return float(len([entry for entry in log if entry == "run"]))

    monkeypatch.setattr(warm_up, "_seconds", seconds)
    monkeypatch.setattr(warm_up.torch, "empty", lambda *_, **__: Rubbish())
    results = Results(warm_up.measure_warm_up(PARAMS, ONE, 0))
    found = {arm: results.one(names.WARM_UP, arm).values for arm in results.arms(names.WARM_UP)}
    assert found == {
        names.FIRST_RUN: (1e3,),
        names.SECOND_RUN: (2e3,),
        names.LATER_RUN: (3e3, 6e3),
        names.EMPTIED_CACHES: (4e3, 5e3),
    }
    assert log == ["run", "run", "run", "emptied", "run", "emptied", "run", "run"]


def test_the_first_run_comes_before_all_else_that_a_start_measures(monkeypatch):
    order: list[str] = []
    for name in ("measure_warm_up", "measure_products", "measure_dependencies", "measure_waits"):
        monkeypatch.setattr(one_start, name, lambda *_, called=name: order.append(called) or [])
    one_start.measure_on(PARAMS, ONE, 0)
    assert order[0] == "measure_warm_up"
    assert len(order) == 4
