"""Made-up results, as a CPU or a GPU would leave them, for tests that need no measurement.

Each stage's results are in tests/stages/<name>/made_up.py.
"""

import functools
import importlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from lab.claims.book_order import BOOK_ORDER
from lab.claims.ledger import ledger
from lab.core.files import CONDITIONS, ROWS, read_rows, write_json, write_rows
from lab.machine.devices import DeviceKind, Devices
from lab.parallel.cost_model import Link
from lab.results.derived import derivation_of, write_metrics
from lab.results.diff import Taken
from lab.results.documents import read_results
from lab.results.findings import Finding
from lab.results.measurements import Measurement, Results, again, measurements_of, rows_of
from lab.results.reasons import Reason
from lab.timing.conditions import LoadMonitor, conditions
from tests import smallest
from tests.helpers import COMMITTED, ROOT


def _made_up_by(stage: str, function: str) -> bool:
    """Return whether tests/stages/<stage>/made_up.py has the function."""
    file = ROOT / "tests" / "stages" / stage / "made_up.py"
    return file.is_file() and f"\ndef {function}(" in file.read_text()


_JUDGED = [stage for stage in BOOK_ORDER if stage != "train"]
BENCHES = tuple(stage for stage in _JUDGED if _made_up_by(stage, "measurements"))
# their committed run leaves out what takes long
LEFT_OUT = tuple(stage for stage in _JUDGED if _made_up_by(stage, "write"))
THEORY = tuple(stage for stage in _JUDGED if stage not in BENCHES)

# between the made-up processes: 100 us, 2 GB/s, adding at 20 GB/s
LINK = Link(100e-6, 1e-9 / 2, 1e-9 / 20)
STARTS = 12


class EvenWatch(LoadMonitor):
    """The watch of a quiet machine that is as fast after as before."""

    def speed(self) -> tuple[float, float]:
        return 100.0, 10.0

    def busy_percent(self) -> float:
        return 0.0

    def disturbances(self) -> list[Reason]:
        return []


def samples(median: float) -> tuple[float, ...]:
    """Return a sample for each fresh process, nearly equal to the median."""
    return tuple(median * (1 + 0.0005 * i) for i in range(-STARTS // 2, STARTS // 2))


def one(
    experiment: str, variant: str, median: float, kind: DeviceKind, x: float = 0, unit: str = "ms"
) -> Measurement:
    return Measurement(
        experiment, variant, x, samples(median), unit, kind, 0 if kind == "cuda" else 1
    )


def committed(stage: str, kind: DeviceKind) -> list[Measurement]:
    """Return a stage's committed results around their medians, as if measured on that kind."""
    return [
        replace(
            m,
            values=samples(m.summary.median) if len(m.values) > 1 else m.values,
            device_kind=kind,
            threads=0 if kind == "cuda" else m.threads,
            remark="" if m.values else m.remark,
        )
        for m in measurements_of(read_rows(COMMITTED / "reports" / stage / ROWS))
    ]


def measurements(stage: str, kind: DeviceKind) -> list[Measurement]:
    """Return a stage's measurements in recognisable numbers; a CPU has no variants of GPUs."""
    made = importlib.import_module(f"tests.stages.{stage}.made_up").measurements(kind)
    return [*made, *(one("control", variant, 1.0, kind) for variant in ("arm", again("arm")))]


def conditions_of(
    stage: str, made: Sequence[Measurement], kind: DeviceKind, starts: int = STARTS
) -> dict[str, float | str]:
    """Return the conditions of a stage's measurements, with the stage's own if it has any."""
    devices = Devices(kind, [torch.device("cpu")] * 2, 1)
    module = importlib.import_module(f"tests.stages.{stage}.made_up")
    own = module.conditions(made) if hasattr(module, "conditions") else {}
    return conditions(made, devices, EvenWatch(), starts) | own


def findings(stage: str, made: Sequence[Measurement], kind: DeviceKind) -> dict[str, Finding]:
    """Return the stage's findings of these measurements."""
    return derivation_of(stage).findings(Results(made, conditions_of(stage, made, kind)))


def write(stage: str, reports: Path, kind: DeviceKind = "cpu-virtual") -> None:
    """Write a stage's rows, conditions and metrics under `reports`."""
    made = measurements(stage, kind)
    write_rows(reports / stage, rows_of(made))
    write_json(reports / stage / CONDITIONS, conditions_of(stage, made, kind))
    write_metrics(reports / stage, derivation_of(stage))


@functools.cache
def results(stage: str) -> Results:
    """Return a stage's results, for its claims, on a machine with two GPUs and real data.

    Benchmarks and what a laptop leaves out are made up; theory is as committed.
    """
    with TemporaryDirectory() as folder:
        made = Path(folder)
        if stage in BENCHES:
            write(stage, made, "cuda")
        elif stage in LEFT_OUT:
            importlib.import_module(f"tests.stages.{stage}.made_up").write(made, "cuda")
        else:
            found = read_results(COMMITTED / "reports" / stage)
            return _with_needs_met(_with_all_experiments(found, stage, made), stage)
        return read_results(made / stage)


def _with_all_experiments(found: Results, stage: str, folder: Path) -> Results:
    """Add rows of a tiny run for the experiments that the committed run leaves out."""
    there = {m.experiment for m in found.measurements if m.values}
    tiny = smallest.results(stage) if stage in smallest.STAGES else []
    more = [m for m in tiny if m.experiment not in there]
    if not more:
        return found
    write_rows(folder, rows_of(more))
    written = measurements_of(read_rows(folder / ROWS))
    return Results([*found.measurements, *written], found.conditions)


def _with_needs_met(found: Results, stage: str) -> Results:
    """Return the results as if measured with the settings and on the devices that claims need."""
    conditions = dict(found.conditions)
    for claim in ledger():
        for need in claim.needs if claim.stage == stage else ():
            for name, accepted in need.conditions.items():
                if conditions.get(name) not in accepted:
                    conditions[name] = accepted[0]
    return Results(found.measurements, conditions)


@functools.cache
def server() -> dict[str, Taken]:
    """Return the results of that machine by stage: each claim can be tested on it."""
    return {stage: taken(stage, results(stage)) for stage in {c.stage for c in ledger()}}


def taken(stage: str, found: Results) -> Taken:
    """Return a stage's results with the findings that follow."""
    return Taken(derivation_of(stage).findings(found), found.conditions)
