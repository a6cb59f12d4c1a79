import json
import multiprocessing
import subprocess
import sys
import time

import psutil
import pytest

from lab.core.errors import LabError
from lab.nets.step_parts import CONVOLUTIONS, UPDATE
from lab.results.reasons import FAILED, NO_TIME, Reason
from lab.timing.deadline import DEADLINE_VARIABLE
from lab.timing.rates import PRODUCT_ROWS
from lab.training.run_params import NOTES
from stages.bench_training.measure import race as race_module
from stages.bench_training.measure.race import TRACED_STEPS, race
from stages.bench_training.measure.variants import TrainingVariant
from tests.helpers import ROOT, outlived, write_data

pytestmark = pytest.mark.slow

PRODUCT = TrainingVariant(
    **NOTES.model_dump() | {"batch_size": 64}, kind="arithmetic", steps=20, device="cpu", threads=1
)
BOOK = PRODUCT.but(kind="book", batch_size=8, steps=2, num_workers=1)


@pytest.fixture
def ready(project, monkeypatch):
    write_data(project / "data", train=300, test=10)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    yield
    assert not multiprocessing.active_children(), "no variant's process outlives its race"


def test_variants_take_turns_in_their_own_processes(ready):
    found = race({"product": PRODUCT, "book": BOOK}, starts=1)
    assert list(found.seconds) == ["product", "book"]
    for [seconds] in found.seconds.values():
        assert 0 < seconds < 60


def test_a_race_writes_profiler_traces_and_survives_one_that_fails(ready, tmp_path):
    variants = {"product": PRODUCT, "other": PRODUCT.but(batch_size=8)}
    (tmp_path / "other.json").mkdir()  # so that the trace cannot be written
    found = race(variants, 1, tmp_path)
    assert list(map(len, found.seconds.values())) == [1, 1]
    events = json.loads((tmp_path / "product.json").read_text())["traceEvents"]
    products = [each for each in events if each.get("name") == "aten::mm"]
    assert len(products) == TRACED_STEPS * len(PRODUCT_ROWS["cpu"])


def test_every_process_measures_the_parts_of_a_step(ready):
    engine = BOOK.but(kind="engine", batch_size=16, in_parts=True)
    found = race({"engine": engine, "again": engine.but(in_parts=False)}, starts=2)
    assert list(found.parts) == ["engine"]
    for parts in found.parts["engine"]:
        forward = 2 * 16 * (24**2 * 20 * 9 + 8**2 * 50 * 500)
        assert parts[CONVOLUTIONS].flop == forward, "of the 26 x 26 pixels that count"
        assert parts[UPDATE].num_bytes == 2 * 4 * 129_068, "weights and gradients, of one step"
        assert parts[CONVOLUTIONS].seconds > 0


def end_at_once(link, variant):
    raise SystemExit(4)


def answer_once(link, variant):
    link.send(1.0 * link.recv())


@pytest.mark.parametrize(("serve", "code"), [(end_at_once, 4), (answer_once, 0)])
def test_a_race_ends_when_a_variants_process_ends(ready, monkeypatch, serve, code):
    """The first ends immediately, the second in the turn that counts."""
    monkeypatch.setattr(race_module, "serve", serve)
    with pytest.raises(LabError, match=rf"^variant 'broken' ended with code {code}"):
        race({"broken": PRODUCT}, 2)


def test_a_variant_that_does_not_compile_leaves_the_race_to_the_others(ready):
    compiled = BOOK.but(kind="engine", compile="no such mode")
    found = race({"compiled": compiled, "product": PRODUCT}, starts=2)
    assert list(found.seconds) == ["product"]
    assert len(found.seconds["product"]) == 2
    assert found.unable == {"compiled": Reason(FAILED, "RuntimeError")}


def test_a_variant_that_compiles_for_too_long_leaves_the_race_to_the_others(ready, monkeypatch):
    """Otherwise a visit's most valuable part would end while it compiles, with no results."""
    monkeypatch.setenv(DEADLINE_VARIABLE, str(time.monotonic() + 4))
    compiled = BOOK.but(kind="engine", compile="max-autotune", batch_size=64)
    found = race({"compiled": compiled, "product": PRODUCT}, starts=1)
    assert found.unable == {"compiled": Reason(NO_TIME)}
    assert list(found.seconds) == ["product"]


RACE = """
import json, sys
from lab.core.process import run
from stages.bench_training.measure.race import TrainingVariant, race
variants = {i: TrainingVariant(**variant) for i, variant in enumerate(json.loads(sys.argv[1]))}
sys.exit(run(lambda: race(variants, 1_000_000)))
"""


def start_race(*variants: TrainingVariant) -> subprocess.Popen[bytes]:
    command = [
        sys.executable,
        "-c",
        RACE,
        json.dumps([variant.model_dump() for variant in variants]),
    ]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def descendants(process: subprocess.Popen[bytes], count: int) -> list[psutil.Process]:
    """Wait until a process has `count` descendants, and return them."""
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        found = psutil.Process(process.pid).children(recursive=True)
        if len(found) == count:
            return found
        time.sleep(0.02)
    pytest.fail(f"no {count} processes")


def test_a_race_that_is_killed_leaves_no_process(ready):
    """The waiting variants end, and so does one in a turn that would never end."""
    endless = PRODUCT.but(steps=10**12)
    racing = start_race(PRODUCT, endless)
    processes = descendants(racing, 4)  # the server, its resource tracker, two variants
    racing.kill()
    racing.wait(10)
    assert not outlived(processes)
