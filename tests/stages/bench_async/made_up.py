"""Made-up results of bench_async, as a CPU or a GPU would leave them."""

from lab.machine.devices import DeviceKind
from lab.results.measurements import Measurement, skip
from stages.bench_async import __main__ as bench_async
from tests.made_up import one


def measurements(kind: DeviceKind) -> list[Measurement]:
    returns = 0.01 if kind == "cuda" else 1.0
    made = [one("first_product", "no warm-up", 500, kind, 64, "us")]
    for n, t in ((64, 10.0), (1024, 1000.0)):
        made += [
            one("product", "call returns", returns * t, kind, n, "us"),
            one("product", "result there", t, kind, n, "us"),
        ]
        made += [
            one("numpy_torch", "torch", t, kind, n, "us"),
            one("numpy_torch", "numpy", 2 * t, kind, n, "us"),
        ]
    for count in (1, 10, 100):
        arms = {
            "waiting once": 5 + 2 * count,
            "waiting after each": 5 + 3 * count,
            "calls return": 1 + count,
        }
        made += [one("run_ahead", name, t, kind, count, "us") for name, t in arms.items()]
    made += [
        one("blocker", name, t, kind, 0, "us")
        for name, t in (("nothing", 2), (".item()", 5), ("print", 100))
    ]
    book = {
        "numpy, float64": 40.0,
        "torch, not waited for": 20 * returns,
        "torch, waited for": 20.0,
    }
    made += [one("book", name, t, kind, 500) for name, t in book.items()]
    made.append(Measurement("dependencies", "z", 0, (3.0, 3.0), "", kind))
    return [*made, skip("book", bench_async.WRONG_DEVICE, "needs 2 CUDA GPUs, found 0", kind)]


def summary(made: list[Measurement]) -> dict[str, float | str]:
    """Return the stage's own metrics of what it measured, its conditions apart."""
    return bench_async.summarise(made)
