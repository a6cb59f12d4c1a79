"""Made-up results of bench_compile: the committed ones, and what only a GPU has."""

from dataclasses import replace

from lab.core.files import Metrics, read_rows
from lab.machine.devices import DeviceKind
from lab.results.measurements import Measurement, Results, measurements_of
from stages.bench_compile.measure.names import GRAPH, INFERENCE
from tests.helpers import COMMITTED
from tests.made_up import samples


def measurements(kind: DeviceKind) -> list[Measurement]:
    """On a GPU eager inference is also replayed as a graph, and queued in half of its time."""
    committed = measurements_of(read_rows(COMMITTED / "reports" / "bench_compile" / "rows.csv"))
    if kind != "cuda":
        return [_of(kind, m) for m in committed]
    measured = [_of(kind, m) for m in committed if m.values]
    graph = [replace(m, variant=GRAPH) for m in measured if m.variant == INFERENCE]
    queued = [
        replace(m, experiment="enqueue", values=tuple(us / 2 for us in m.values))
        for m in Results(measured).series("call", INFERENCE)
    ]
    return [*measured, *graph, *queued]


def _of(kind: DeviceKind, m: Measurement) -> Measurement:
    several = len(m.values) > 1
    return replace(
        m,
        values=samples(m.summary.median) if several else m.values,
        device_kind=kind,
        threads=0 if kind == "cuda" else m.threads,
        remark="" if m.values else m.remark,
    )


def conditions(made: list[Measurement]) -> Metrics:
    """The stage has no conditions of its own."""
    return {}
