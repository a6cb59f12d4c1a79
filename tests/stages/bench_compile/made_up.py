"""Made-up results of bench_compile, as a CPU or a GPU would leave them."""

from lab.machine.devices import DeviceKind
from lab.results.measurements import Measurement, skip
from stages.bench_compile import __main__ as bench_compile
from stages.bench_compile.measure import names
from stages.bench_compile.measure.compiled_forms import BUILDERS, FILES
from tests.made_up import one


def measurements(kind: DeviceKind) -> list[Measurement]:
    def exact(experiment: str, variant: str, number: float, unit: str, x: float = 0) -> Measurement:
        return Measurement(experiment, variant, x, (number,), unit, kind)

    made = [exact(names.PRINTED, names.FOLDED, 10, "")]
    for program, us in ((names.TEXT, 40), (names.FOLDED, 0.2)):
        made.append(one(names.PROGRAM, program, us, kind, unit="us"))
    for program, count in ((names.COMPILED_ONCE, 30), (names.FOLDED, 7)):
        made.append(exact(names.INSTRUCTIONS, program, count, "instructions"))
    for variant, ms in ((names.EAGER, 40), (names.SCRIPT, 35), (names.FIRST_IN_PROCESS, 45)):
        made.append(one(names.THOUSAND_CALLS, variant, ms, kind))
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
    for batch_size, share in ((1, 60), (256, 98)):
        made.append(one(names.BACK_END, names.EAGER, share, kind, batch_size, "%"))
    if kind == "cuda":
        made.append(one(names.ENQUEUE, names.INFERENCE, 10, kind, 1, "us"))
    for form, us in ((names.EAGER, 40), (names.SCRIPT, 16)):
        made += [
            one(names.THREADS, form, 32, kind, 1, "us"),
            one(names.THREADS, form, us, kind, 2, "us"),
        ]
    for network, gain in (("a", 1.3), ("b", 1.2), ("c", 0.9)):
        for batch_size in (1, 2, 4):
            for form, us in ((names.EAGER, 10 * gain), (names.SCRIPT, 10)):
                variant = names.of_case(network, form)
                made.append(one(names.CASES, variant, us, kind, batch_size, "us"))
    for form in FILES:
        made += [
            exact(names.SAVED_SIZE, form, 650, "KiB"),
            one(names.SAVED_LOAD, form, 3, kind),
            exact(names.SAVED_DIFFERENCE, form, 0, "logit"),
        ]
    return [*made, exact(names.FRONT_END, names.CPP, 1e-7, "logit")]


def summary(made: list[Measurement]) -> dict[str, float | str]:
    """Return the stage's own metrics of what it measured, its conditions apart."""
    return bench_compile.summarise(made)
