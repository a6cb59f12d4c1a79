"""Made-up results of bench_buckets: of a processor the committed ones, which hide nothing; GPUs
hide what the model says."""

from dataclasses import replace

from lab.core.files import Metrics, read_rows
from lab.machine.devices import DeviceKind
from lab.results.measurements import AGAIN, Measurement, Results, measurements_of
from stages.bench_buckets.measure.names import COMPUTING
from tests.helpers import COMMITTED
from tests.made_up import samples


def measurements(kind: DeviceKind) -> list[Measurement]:
    committed = measurements_of(read_rows(COMMITTED / "reports" / "bench_buckets" / "rows.csv"))
    results, threads = Results(committed), 0 if kind == "cuda" else 1

    def median(m: Measurement) -> float:
        net = str(m.columns["net"])
        variant = m.variant.removesuffix(AGAIN)
        predicted = results.one("predicted exposed", variant, m.x, net=net)
        if kind != "cuda" or predicted is None or m.experiment not in ("step", "exposed"):
            return m.summary.median
        computing = results.one("step", COMPUTING, net=net) if m.experiment == "step" else None
        return predicted.summary.median + (computing.summary.median if computing else 0)

    return [
        replace(m, values=samples(median(m)), device_kind=kind, threads=threads, remark="")
        for m in committed
    ]


def conditions(made: list[Measurement]) -> Metrics:
    """The stage's own conditions."""
    return {"resnet18_images": 2}
