"""Made-up results of bench_compile, as a CPU or a GPU would leave them."""

from lab.machine.devices import DeviceKind
from lab.results.measurements import Measurement, skip
from stages.bench_compile import __main__ as bench_compile
from stages.bench_compile import compiled
from tests.made_up import one


def measurements(kind: DeviceKind) -> list[Measurement]:
    made = [
        one("program", n, t, kind, unit="us")
        for n, t in (("text", 40), ("compiled once", 1), ("folded first", 0.2))
    ]
    made += [
        Measurement("instructions", n, 0, (7,), "instructions", kind)
        for n in ("compiled once", "FX graph")
    ]
    for i, name in enumerate(compiled.BUILDERS):
        if name == compiled.GRAPH and kind != "cuda":
            made.append(skip("call", name, "needs a CUDA GPU", kind))
            continue
        made.append(Measurement("build", name, 0, (0.5 * i,), "s", kind))
        made += [Measurement("first_calls", name, x, (1000 / x,), "us", kind) for x in (1, 2, 3)]
        for batch_size in (1, 256):
            made.append(one("call", name, 40 - 4 * i, kind, batch_size, "us"))
            made.append(Measurement("difference", name, batch_size, (1e-6,), "logit", kind))
    for name in compiled.SAVED:
        made += [
            Measurement("saved_size", name, 0, (650.0,), "KiB", kind),
            one("saved_load", name, 3, kind),
        ]
        made.append(Measurement("saved_difference", name, 0, (0.0,), "logit", kind))
    return made


def summary(made: list[Measurement]) -> dict[str, float | str]:
    """Return the stage's own metrics of what it measured, its conditions apart."""
    return bench_compile.summarise(made, 1)
