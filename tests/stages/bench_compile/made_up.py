"""Made-up results of bench_compile, as a CPU or a GPU would leave them."""

from lab.machine.devices import DeviceKind
from lab.results.measurements import Measurement, skip
from stages.bench_compile import __main__ as bench_compile
from stages.bench_compile import names
from stages.bench_compile.compiled_forms import BUILDERS, FILES
from tests.made_up import one


def measurements(kind: DeviceKind) -> list[Measurement]:
    def exact(demo: str, arm: str, number: float, unit: str, x: float = 0) -> Measurement:
        return Measurement(demo, arm, x, (number,), unit, kind)

    made = []
    for program, us in ((names.TEXT, 40), (names.COMPILED_ONCE, 1), (names.FOLDED, 0.2)):
        made += [
            one(names.PROGRAM, program, us, kind, unit="us"),
            exact(names.RESULT, program, 10, ""),
        ]
    for program in (names.COMPILED_ONCE, names.FOLDED, names.FX_GRAPH):
        made.append(exact(names.INSTRUCTIONS, program, 7, "instructions"))
    for i, form in enumerate(BUILDERS):
        if form == names.GRAPH and kind != "cuda":
            made.append(skip(names.CALL, form, "needs a CUDA GPU", kind))
            continue
        made.append(exact(names.BUILD, form, 0.5 * i, "s"))
        made += [exact(names.FIRST_CALLS, form, 1000 / call, "us", call) for call in (1, 2, 3)]
        for batch_size in (1, 256):
            made += [
                one(names.CALL, form, 40 - 4 * i, kind, batch_size, "us"),
                exact(names.DIFFERENCE, form, 1e-6, "logit", batch_size),
            ]
    for form in FILES:
        made += [
            exact(names.SAVED_SIZE, form, 650, "KiB"),
            one(names.SAVED_LOAD, form, 3, kind),
            exact(names.SAVED_DIFFERENCE, form, 0, "logit"),
        ]
    return made


def summary(made: list[Measurement]) -> dict[str, float | str]:
    """Return the stage's own metrics of what it measured, its conditions apart."""
    return bench_compile.summarise(made)
