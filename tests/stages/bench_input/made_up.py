"""Made-up results of bench_input: the committed medians, on a CPU or a GPU."""

from lab.core.files import Metrics
from lab.machine.devices import DeviceKind
from lab.results.measurements import Measurement
from tests.made_up import committed


def measurements(kind: DeviceKind) -> list[Measurement]:
    return committed("bench_input", kind)


def conditions(made: list[Measurement]) -> Metrics:
    return {"dataset": "fashion-mnist", "worker_start": "fork"}
