"""The notes' program timed as text, compiled once and folded; what it prints, and what is left."""

from functools import partial
from types import CodeType

from torch import fx

from lab.core.shared_params import BenchParams
from lab.machine.devices import Devices
from lab.results.measurements import Measurement
from lab.timing.bench import in_unit, time_arms
from stages.bench_compile.measure import names, program_text
from stages.bench_compile.measure.program_text import (
    PROGRAM,
    add_four,
    count_instructions,
    fold,
    run,
)


def programs() -> dict[str, CodeType | str]:
    """The program in the forms that are timed."""
    return {
        names.TEXT: PROGRAM,
        names.COMPILED_ONCE: compile(PROGRAM, "", "exec"),
        names.FOLDED: compile(fold(PROGRAM), "", "exec"),
    }


def measure_program(devices: Devices, params: BenchParams, start: int) -> list[Measurement]:
    """Time the program in each form."""
    arms = {arm: partial(run, program) for arm, program in programs().items()}
    times = time_arms(arms, [], params, start, control=names.TEXT)
    return in_unit(names.PROGRAM, 0, times, "us", devices)


def measure_printed(devices: Devices) -> list[Measurement]:
    """What each form prints; the instructions left, and torch.fx's operations."""

    def number(demo: str, arm: str, value: object, unit: str = "") -> Measurement:
        return Measurement(demo, arm, 0, (float(str(value)),), unit, devices.kind)

    measured = [number(names.PRINTED, names.CALLED, add_four(1, 2, 3, 4))]
    for arm, program in programs().items():
        [printed] = run(program)
        measured.append(number(names.PRINTED, arm, printed))
        if isinstance(program, CodeType):
            left = count_instructions(program)
            measured.append(number(names.INSTRUCTIONS, arm, left, "instructions"))
    return [*measured, number(names.INSTRUCTIONS, names.FX_GRAPH, _operations(), "operations")]


def _operations() -> int:
    """The calls that torch.fx records of the program's function."""
    namespace: dict[str, fx.GraphModule] = {}
    exec(program_text.DEFINITIONS, namespace)  # noqa: S102 - constants of the lab's own
    graph = fx.symbolic_trace(namespace["add_four"]).graph
    return sum(node.op == "call_function" for node in graph.nodes)
