"""Networks of which the answer is known: what helps them, what does not, and what breaks them."""

from pathlib import Path

import pytest

from lab.core.errors import MachineError
from lab.core.params import load
from lab.machine.compiler_cache import empty_compiler_cache
from lab.machine.devices import missing_for_compile, processor
from lab.machine.fresh_process import call_in_subprocess
from lab.results.measurements import Results, again
from lab.results.reasons import FAILED
from stages.own_network import __main__ as own_network
from stages.own_network.findings import findings, helps, same, speedup
from stages.own_network.measure import names
from stages.own_network.measure.names import ALL, ALONE, BASELINE, TOGETHER
from stages.own_network.measure.params import Params
from stages.own_network.measure.training import AS_IT_IS, Plan, Variant, trial
from tests.helpers import ROOT

pytestmark = pytest.mark.slow

NETWORKS = Path(__file__).with_name("networks")
PARAMS = load(Params, ROOT / "params.yaml")
STARTS = 2


@pytest.fixture(autouse=True, scope="module")
def compilers_cache():
    with empty_compiler_cache():
        yield


def tried(network: str, *techniques: str, steps: int, starts: int = STARTS) -> Results:
    """What the file as it is, the same again, and each technique alone show of a network."""
    devices = processor(1)  # several threads would wait for each other on a busy machine
    plan = Plan(NETWORKS / f"{network}.py", steps)
    variants = {again(BASELINE): AS_IT_IS}
    variants |= {name: Variant((name,)) for name in techniques}
    found = own_network.race(variants, range(starts), plan, devices, PARAMS)
    return Results(own_network.in_rows(ALONE, found, 1, 1, devices))


def speedups(results: Results) -> dict[str, float]:
    """The medians of those that were tried: a busy machine's intervals would be wide."""
    return {name: speedup(results, name).value for name in results.variants(ALONE)}


def test_workers_and_memory_help_a_loader_that_sleeps_and_the_optimizer_does_not():
    results = tried("sleeping_loader", names.WORKERS, names.IN_MEMORY, names.FUSED, steps=4)
    gains = speedups(results)
    assert min(gains[names.WORKERS], gains[names.IN_MEMORY]) > 1.5 * gains[names.FUSED]
    found = findings(results)
    assert found["input_percent"].value > 50
    assert found["control"].low < found["control"].high, "two processes never take the same time"


@pytest.mark.skipif(bool(missing_for_compile()), reason="no compiler")
def test_a_compiler_helps_tiny_layers_and_bfloat16_does_not():
    results = tried("tiny_layers", names.COMPILE, names.BF16, steps=20)
    gains = speedups(results)
    assert gains[names.COMPILE] > 1.5 * gains[names.BF16]
    found = findings(results)
    assert found["of_peak_percent"].value < 2
    assert found["builds_s"].value > 0 and found["pays_after"].value > 1


def test_a_large_product_is_nearer_the_peak_than_anything_else_and_has_no_calls():
    large, small = (findings(tried(net, steps=1)) for net in ("large_product", "tiny_layers"))
    assert large["of_peak_percent"].value > 10 > 5 * small["of_peak_percent"].value
    assert large["calls_percent"].value < small["calls_percent"].value


def test_nothing_that_keeps_the_steps_is_taken_for_another_training():
    techniques = (names.FUSED, names.MEMORY, names.ONE_THREAD, names.CHANNELS_LAST, names.BF16)
    results = tried("words", *techniques, steps=1, starts=2)
    assert all(same(results, name) for name in techniques)
    assert not helps(results, again(BASELINE))
    results = tried("convolutions", names.CHANNELS_LAST, names.FUSED, steps=1, starts=2)
    assert same(results, names.CHANNELS_LAST) and same(results, names.FUSED)


def test_a_step_that_never_ends_ends_the_stage_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(own_network, "TIMEOUT_S", 3)
    file = tmp_path / "mine.py"
    text = (NETWORKS / "large_product.py").read_text()
    file.write_text(f"{text}\nimport time\n\n\ndef loss(*_):\n    time.sleep(600)\n")
    variants = {names.FUSED: Variant((names.FUSED,))}
    with pytest.raises(MachineError, match=r"mine\.py: no step within 3 s; "):
        own_network.race(variants, range(1), Plan(file), processor(1), PARAMS)


def test_bfloat16_that_breaks_a_net_is_named():
    results = tried("fine_print", names.BF16, steps=2)
    assert results.series(ALONE, names.BF16), "it was timed"
    assert not same(results, names.BF16)
    assert not findings(results)["bfloat16_differs"]


def test_techniques_that_help_are_combined_and_the_combination_is_measured():
    techniques = (names.IN_MEMORY, names.FUSED, names.ONE_THREAD)
    plan, devices = Plan(NETWORKS / "sleeping_loader.py", 4), processor(1)
    found = own_network.race({ALL: Variant(techniques)}, range(4, 7), plan, devices, PARAMS)
    results = Results(own_network.in_rows(TOGETHER, found, 1, 1, devices))
    assert len(results.samples(TOGETHER, BASELINE).values) == 3
    assert findings(results)["speedup"].value > 2


@pytest.mark.skipif(bool(missing_for_compile()), reason="no compiler")
def test_control_flow_by_data_leaves_the_compiler_out_with_the_place():
    results = tried("by_data", names.COMPILE, steps=2, starts=1)
    missing = findings(results)["torch_compile_speedup"].missing
    assert f"{FAILED}: Unsupported, line 13" in str(missing)


def test_what_a_machine_or_a_net_lacks_is_said():
    found = call_in_subprocess(
        "trial", trial, processor(1).devices[0], Plan(NETWORKS / "words.py"), 1, 0
    )
    assert {names.TF32, names.GRAPH, names.WORKERS, names.CHANNELS_LAST} <= found.lacking.keys()
    assert found.batch_size == 64
    weights = 50 * 16 + 4 * 32 * (16 + 32 + 2) + 2 * 32 + 4 * 33
    assert found.parameters == weights
