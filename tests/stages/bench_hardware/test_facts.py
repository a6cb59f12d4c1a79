import psutil
import pytest

from lab.machine.devices import processor, usable_cores
from lab.results.measurements import Results
from stages.bench_hardware.measure import facts, names


def test_a_machine_without_a_gpu_tells_what_it_has(monkeypatch, tmp_path):
    file = tmp_path / "line"
    monkeypatch.setattr(facts, "LINE_FILE", file)
    results = Results(facts.measure_facts(processor(1)))
    skipped = {m.arm for m in results.skipped()}
    assert skipped == {names.CACHE_LINE, names.MULTIPROCESSORS, names.GPU_MEMORY}
    assert results.one(names.FACTS, names.CORES).values == (usable_cores(),)
    gib = psutil.virtual_memory().total / 2**30
    assert results.one(names.FACTS, names.MEMORY).values == (pytest.approx(gib),)
    file.write_text("64\n")
    line = Results(facts.measure_facts(processor(1))).one(names.FACTS, names.CACHE_LINE)
    assert line.values == (64,)
