"""Results of bench_input as a CPU or a GPU would leave them: committed medians, other devices."""

from dataclasses import replace

from lab.core.files import read_rows
from lab.machine.devices import DeviceKind
from lab.results.measurements import Measurement, Results, measurements_of
from stages.bench_input import __main__ as bench_input
from tests.helpers import COMMITTED
from tests.made_up import samples


def measurements(kind: DeviceKind) -> list[Measurement]:
    committed = measurements_of(read_rows(COMMITTED / "reports" / "bench_input" / "rows.csv"))
    return [
        replace(m, values=samples(m.summary.median), device_kind=kind, remark="") for m in committed
    ]


def summary(made: list[Measurement]) -> dict[str, float | str]:
    """Return the stage's own metrics of what it measured, its conditions apart."""
    return bench_input.summarise(Results(made))
