"""The notes' program timed as text, compiled once and folded, and what is left of it to do."""

from functools import partial
from types import CodeType

from torch import fx

from lab.core.shared_params import BenchParams
from lab.machine.devices import Devices
from lab.results.measurements import Measurement
from lab.timing.bench import in_unit, time_arms
from stages.bench_compile import names, program_text


def measure_program(devices: Devices, params: BenchParams) -> list[Measurement]:
    """Time the program in each form; count the instructions left, and torch.fx's operations."""
    folded = program_text.fold(program_text.PROGRAM)
    compiled = {
        names.COMPILED_ONCE: compile(program_text.PROGRAM, "", "exec"),
        names.FOLDED: compile(folded, "", "exec"),
    }
    programs: dict[str, CodeType | str] = {names.TEXT: program_text.PROGRAM, **compiled}
    arms = {arm: partial(program_text.run, program) for arm, program in programs.items()}
    measured = in_unit(names.PROGRAM, 0, time_arms(arms, [], params), "us", devices)
    for arm, result in arms.items():
        measured.append(_number(names.RESULT, arm, result(), "", devices))
    for arm, code in compiled.items():
        left = program_text.count_instructions(code)
        measured.append(_number(names.INSTRUCTIONS, arm, left, "instructions", devices))
    operations = _number(names.INSTRUCTIONS, names.FX_GRAPH, _operations(), "operations", devices)
    return [*measured, operations]


def _operations() -> int:
    """The calls that torch.fx records of the program's function."""
    namespace: dict[str, fx.GraphModule] = {}
    exec(program_text.DEFINITIONS, namespace)  # noqa: S102 - constants of the lab's own
    graph = fx.symbolic_trace(namespace["add_four"]).graph
    return sum(node.op == "call_function" for node in graph.nodes)


def _number(demo: str, arm: str, number: int, unit: str, devices: Devices) -> Measurement:
    return Measurement(demo, arm, 0, (number,), unit, devices.kind)
