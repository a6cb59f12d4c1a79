"""The notes' program timed as text and folded; what it prints then, and the instructions left."""

from functools import partial
from types import CodeType

from lab.core.shared_params import BenchParams
from lab.machine.devices import Devices
from lab.results.measurements import Measurement
from lab.timing.bench import in_unit, time_variants
from stages.bench_compile.measure import names
from stages.bench_compile.measure.program_text import PROGRAM, count_instructions, fold, run


def compiled() -> dict[str, CodeType]:
    """The program compiled as it is, and folded first."""
    return {
        names.COMPILED_ONCE: compile(PROGRAM, "", "exec"),
        names.FOLDED: compile(fold(PROGRAM), "", "exec"),
    }


def measure_program(devices: Devices, params: BenchParams, start: int) -> list[Measurement]:
    """Time the program as text, which is parsed each time, and folded."""
    variants = {
        names.TEXT: partial(run, PROGRAM),
        names.FOLDED: partial(run, compiled()[names.FOLDED]),
    }
    times = time_variants(variants, [], params, start, control=names.TEXT)
    return in_unit(names.PROGRAM, 0, times, "us", devices)


def measure_folding(devices: Devices) -> list[Measurement]:
    """What the folded program prints, and the instructions before and after."""
    programs = compiled()
    [printed] = run(programs[names.FOLDED])
    counts = {variant: count_instructions(program) for variant, program in programs.items()}
    return [
        Measurement(names.PRINTED, names.FOLDED, 0, (float(str(printed)),), "", devices.kind),
        *[
            Measurement(names.INSTRUCTIONS, variant, 0, (count,), "instructions", devices.kind)
            for variant, count in counts.items()
        ],
    ]
