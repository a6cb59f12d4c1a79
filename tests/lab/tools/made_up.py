"""Made-up results of a stage that times two variants."""

from lab.core.files import write_json, write_rows
from lab.results.measurements import Measurement, rows_of
from stages.bench_overlap.measure.names import CONCURRENT
from tests.helpers import hardware


def write_run(reports, name="one", seconds=2.0, **conditions):
    """Write rows with a speed-up of `seconds`; each process takes 0.1% longer than the last."""
    made = [
        Measurement("times", variant, 16, tuple(ms * (1 + i / 1000) for i in range(8)), "ms")
        for variant, ms in (("sequentially", 10.0 * seconds), (CONCURRENT, 10.0))
    ]
    folder = reports / name
    write_rows(folder, rows_of(made))
    here = {"device_kind": "cpu", "machine": hardware("this")}
    write_json(folder / "conditions.json", here | conditions)
