"""Made-up results, as a CPU or a GPU would leave them, for what needs no measurement.

Each stage's are in tests/stages/<name>/made_up.py.
"""

import functools
import importlib
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from lab.claims.book_order import BOOK_ORDER
from lab.claims.evidence import Evidence
from lab.claims.ledger import ledger
from lab.core.files import (
    CONDITIONS,
    METRICS,
    ROWS,
    Metrics,
    read_json,
    read_rows,
    write_json,
    write_metrics,
    write_rows,
)
from lab.machine.devices import DeviceKind, Devices
from lab.parallel.cost_model import Link
from lab.results import derived
from lab.results.derived import derivation_of
from lab.results.disturbances import Disturbance
from lab.results.findings import Finding
from lab.results.measurements import Measurement, Results, again, measurements_of, rows_of
from lab.timing.conditions import LoadMonitor, conditions
from stages.claims.__main__ import gather
from tests import smallest
from tests.helpers import COMMITTED, ROOT


def _made_up_by(stage: str, function: str) -> bool:
    """Whether a stage's results are made up by a function of tests/stages/<stage>/made_up.py."""
    file = ROOT / "tests" / "stages" / stage / "made_up.py"
    return file.is_file() and f"\ndef {function}(" in file.read_text()


_JUDGED = [stage for stage in BOOK_ORDER if stage != "train"]
BENCHES = tuple(stage for stage in _JUDGED if _made_up_by(stage, "measurements"))
# whose committed run leaves out what takes long
LEFT_OUT = tuple(stage for stage in _JUDGED if _made_up_by(stage, "write"))
THEORY = tuple(stage for stage in _JUDGED if stage not in BENCHES)

LINK = Link(
    100e-6, 1e-9 / 2, 1e-9 / 20
)  # of the made-up processes: 100 us, 2 GB/s, adding at 20 GB/s


STARTS = 12


class EvenWatch(LoadMonitor):
    """Of a quiet machine that is as fast after as before."""

    def speed(self) -> tuple[float, float]:
        return 100.0, 10.0

    def busy_percent(self) -> float:
        return 0.0

    def disturbances(self) -> list[Disturbance]:
        return []


def samples(median: float) -> tuple[float, ...]:
    """A sample for each start around a median, nearly the same."""
    return tuple(median * (1 + 0.0005 * i) for i in range(-STARTS // 2, STARTS // 2))


def one(
    experiment: str, variant: str, median: float, kind: DeviceKind, x: float = 0, unit: str = "ms"
) -> Measurement:
    return Measurement(
        experiment, variant, x, samples(median), unit, kind, 0 if kind == "cuda" else 1
    )


def measurements(stage: str, kind: DeviceKind) -> list[Measurement]:
    """What a stage measures, in numbers easy to recognise; no GPU's variants on a CPU."""
    made = importlib.import_module(f"tests.stages.{stage}.made_up").measurements(kind)
    return [*made, *(one("control", variant, 1.0, kind) for variant in ("arm", again("arm")))]


def metrics(
    stage: str, made: list[Measurement], kind: DeviceKind, starts: int = STARTS
) -> dict[str, float | str]:
    """The stage's own metrics of what it measured."""
    devices = Devices(kind, [torch.device("cpu")] * 2, 1)
    own = importlib.import_module(f"tests.stages.{stage}.made_up").summary(made)
    return conditions(made, devices, EvenWatch(), starts) | own


def findings(stage: str, made: list[Measurement], kind: DeviceKind) -> dict[str, Finding]:
    """The stage's findings of what it measured."""
    derivation = derivation_of(stage)
    assert derivation
    return derivation.findings(Results(made, metrics(stage, made, kind)))


def write(stage: str, reports: Path, kind: DeviceKind = "cpu-virtual") -> None:
    """Write a stage's rows and metrics under `reports`."""
    made = measurements(stage, kind)
    write_rows(reports / stage, rows_of(made))
    if derivation := derivation_of(stage):
        write_json(reports / stage / CONDITIONS, metrics(stage, made, kind))
        derived.write_metrics(reports / stage, derivation)
        return
    compared = read_json(COMMITTED / "reports" / stage / METRICS)  # by the committed results
    write_metrics(reports / stage, metrics(stage, made, kind), compared)


@functools.cache
def evidence(stage: str) -> Evidence:
    """What a machine with two GPUs and real data leaves for the claims that a stage decides.

    Benchmarks and what a laptop leaves out are made up, theory is the committed one.
    """
    folders = {f for claim in ledger() for f in claim.folders if claim.stage == stage}
    with TemporaryDirectory() as made:
        if stage in BENCHES:
            write(stage, Path(made), "cuda")
        elif stage in LEFT_OUT:
            importlib.import_module(f"tests.stages.{stage}.made_up").write(Path(made), "cuda")
        committed = stage in THEORY and stage not in LEFT_OUT
        found = gather(COMMITTED / "reports" if committed else Path(made), folders)
        if committed and stage in smallest.STAGES:
            found = _with_all_experiments(found, stage, Path(made))
    return _with_needs_met(found, stage) if committed else found


def _with_all_experiments(found: Evidence, stage: str, folder: Path) -> Evidence:
    """The same, with rows of a tiny run for the experiments that the committed one leaves out."""
    there = {row["experiment"] for row in found.rows[stage]}
    tiny = [m for m in smallest.results(stage)[0] if m.experiment not in there]
    if not tiny:
        return found
    write_rows(folder, rows_of(tiny))
    committed, more = found.rows[stage], read_rows(folder / ROWS)
    rows = [*committed, *more]
    measured = [*measurements_of(committed), *measurements_of(more)]
    findings = _findings(stage, measured, found.metrics[stage])
    return Evidence(found.metrics, {**found.rows, stage: rows}, findings)


def _with_needs_met(evidence: Evidence, stage: str) -> Evidence:
    """The same as if measured with the settings, and on the devices, that claims ask for."""
    metrics = {folder: dict(kept) for folder, kept in evidence.metrics.items()}
    for claim in ledger():
        for need in claim.needs if claim.stage == stage else ():
            if metrics[need.metric.folder].get(need.metric.name) not in need.accepted:
                metrics[need.metric.folder][need.metric.name] = need.accepted[0]
    return Evidence(metrics, evidence.rows, evidence.findings)


@functools.cache
def server() -> Evidence:
    """The same for all claims: each can be tested on it."""
    found = [evidence(stage) for stage in dict.fromkeys(claim.stage for claim in ledger())]
    metrics = {folder: kept for each in found for folder, kept in each.metrics.items()}
    return Evidence(
        metrics,
        {f: rows for each in found for f, rows in each.rows.items()},
        {stage: findings for each in found for stage, findings in each.findings.items()},
    )


def _findings(
    stage: str, measured: Sequence[Measurement], conditions: Metrics
) -> dict[str, dict[str, Finding]]:
    """A stage's findings by its name."""
    derivation = derivation_of(stage)
    return {stage: derivation.findings(Results(measured, conditions)) if derivation else {}}
