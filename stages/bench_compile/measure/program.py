"""A program as text, with the notes' structure, and what seeing all of it allows (13.1).

Like the notes, we put a program together from strings, then `compile` and `exec` it; the notes call
that symbolic. It has a function that adds, one that adds four numbers with three calls of the
first, and a line that prints their sum for 1, 2, 3, 4. Seeing the whole program allows changing it
before it runs: `fold` computes what is known beforehand.
"""

import ast
import dis
from functools import partial
from types import CodeType
from typing import Any

from lab.core.shared_params import BenchParams
from lab.machine.devices import Devices
from lab.results.measurements import Measurement
from lab.timing.bench import in_unit, time_variants


def text_of_add() -> str:
    return """
def add(a, b):
    return a + b
"""


def text_of_add_four() -> str:
    return """
def add_four(a, b, c, d):
    left = add(a, b)
    right = add(c, d)
    return add(left, right)
"""


DEFINITIONS = text_of_add() + text_of_add_four()
PROGRAM = DEFINITIONS + "print(add_four(1, 2, 3, 4))"


def run(code: CodeType | str) -> list[object]:
    """Execute a program, as text or compiled, and return what it prints."""
    printed: list[object] = []
    exec(code, {"print": printed.append})  # noqa: S102 - the notes' experiment, on constants
    return printed


def fold(program: str) -> str:
    """Replace every call of the program's own functions on constants by its value.

    Functions that are no longer called are dropped: PROGRAM becomes `print(10)`. The functions are
    assumed to be pure, which a compiler would have to prove.
    """
    tree = ast.parse(program)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    namespace: dict[str, Any] = {}
    exec(compile(ast.Module([*functions], []), "<functions>", "exec"), namespace)  # noqa: S102

    class Fold(ast.NodeTransformer):  # ast calls `visit_<node type>`
        def visit_Call(self, node: ast.Call) -> ast.expr:
            self.generic_visit(node)
            names = {function.name for function in functions}
            known = isinstance(node.func, ast.Name) and node.func.id in names and not node.keywords
            if not known or not all(isinstance(a, ast.Constant) for a in node.args):
                return node
            exec(f"value = {ast.unparse(node)}", namespace)  # noqa: S102
            return ast.copy_location(ast.Constant(namespace["value"]), node)

    rest = [Fold().visit(node) for node in tree.body if node not in functions]
    called = {n.id for statement in rest for n in ast.walk(statement) if isinstance(n, ast.Name)}
    kept = functions if called & {function.name for function in functions} else []
    return ast.unparse(ast.fix_missing_locations(ast.Module([*kept, *rest], [])))


def count_instructions(code: CodeType) -> int:
    """Count the bytecode instructions of a program, including the functions defined in it."""
    nested = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return len(list(dis.get_instructions(code))) + sum(
        count_instructions(inner) for inner in nested
    )


def measure_program(devices: Devices, params: BenchParams, process: int) -> list[Measurement]:
    """Time the program as text, parsed each time, and folded and compiled beforehand."""
    folded = compile(fold(PROGRAM), "", "exec")
    variants = {"text": partial(run, PROGRAM), "folded first": partial(run, folded)}
    times = time_variants(variants, [], params, process, control="text")
    return in_unit("program", 0, times, "us", devices)


def measure_folding(devices: Devices) -> list[Measurement]:
    """Count the program's instructions before and after folding."""
    programs = {"compiled once": PROGRAM, "folded first": fold(PROGRAM)}
    return [
        Measurement(
            "instructions",
            variant,
            0,
            (count_instructions(compile(text, "", "exec")),),
            "instructions",
            devices.kind,
        )
        for variant, text in programs.items()
    ]
