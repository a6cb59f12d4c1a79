"""Results of bench_input as a CPU or a GPU would leave them: committed medians, other devices."""

from lab.core.files import Metrics
from lab.machine.devices import DeviceKind
from lab.results.measurements import Measurement
from tests.made_up import committed


def measurements(kind: DeviceKind) -> list[Measurement]:
    return committed("bench_input", kind)


def conditions(made: list[Measurement]) -> Metrics:
    """The stage's own conditions."""
    return {"dataset": "fashion-mnist", "worker_start": "fork"}
