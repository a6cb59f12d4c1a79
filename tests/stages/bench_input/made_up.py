"""Results of bench_input as a CPU or a GPU would leave them: committed medians, other devices."""

from dataclasses import replace

from lab.core.files import Metrics, read_rows
from lab.machine.devices import DeviceKind
from lab.results.measurements import Measurement, measurements_of
from tests.helpers import COMMITTED
from tests.made_up import samples


def measurements(kind: DeviceKind) -> list[Measurement]:
    committed = measurements_of(read_rows(COMMITTED / "reports" / "bench_input" / "rows.csv"))
    return [
        replace(m, values=samples(m.summary.median), device_kind=kind, remark="") for m in committed
    ]


def conditions(made: list[Measurement]) -> Metrics:
    """The stage's own conditions."""
    return {"dataset": "fashion-mnist", "worker_start": "fork"}
