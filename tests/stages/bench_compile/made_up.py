"""Made-up results of bench_compile: the committed ones, plus variants that only a GPU has."""

from dataclasses import replace

from lab.machine.devices import DeviceKind
from lab.results.measurements import Measurement, Results
from stages.bench_compile.measure.names import GRAPH, INFERENCE
from tests.made_up import committed


def measurements(kind: DeviceKind) -> list[Measurement]:
    """Return results; a GPU also replays eager inference as a graph, queued in half its time."""
    made = committed("bench_compile", kind)
    if kind != "cuda":
        return made
    measured = [m for m in made if m.values]
    graph = [replace(m, variant=GRAPH) for m in measured if m.variant == INFERENCE]
    queued = [
        replace(m, experiment="enqueue", values=tuple(us / 2 for us in m.values))
        for m in Results(measured).series("call", INFERENCE)
    ]
    return [*measured, *graph, *queued]
