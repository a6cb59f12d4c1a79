"""Made-up results of schedules, with both nets searched."""

from pathlib import Path

from lab.core.files import write_metrics, write_rows
from lab.machine.devices import DeviceKind
from lab.results.curves import Curve, line, rows_of
from stages.schedules.__main__ import summarise
from stages.schedules.measure import names
from stages.schedules.measure.book_schedules import drawn

SEEDS = range(8)
RATES = {  # without warm-up and with it
    names.LENET: (2.0, 2.2),
    names.RESNET18: (0.4, 1.6),
}


def schedule_curves(nets: dict[str, tuple[float, float]]) -> list[Curve]:
    """What the stage finds, the same for each seed."""
    made = list(drawn())
    for name in dict.fromkeys(c.series for c in made):
        made.append(line(names.ACCURACY, name, SEEDS, [70.0] * 8))
    for net, rates in nets.items():
        for variant, rate in zip(names.VARIANTS, rates, strict=True):
            series = names.variant_of(net, variant)
            made.append(line(names.STABLE_RATE, series, SEEDS, [rate] * 8))
        made.append(line(names.ONSET, names.variant_of(net, names.NO_WARM_UP), SEEDS, [10.0] * 8))
        for side in (names.STABLE, names.DIVERGING):
            made.append(line(names.LOSSES, names.variant_of(net, side), range(3), [2.4, 2.3, 2.2]))
    return made


def write(reports: Path, kind: DeviceKind, nets: dict[str, tuple[float, float]] = RATES) -> None:
    """Write the rows and metrics of `schedules` under `reports`, the same on any device."""
    made = schedule_curves(nets)
    write_rows(reports / "schedules", rows_of(made))
    write_metrics(reports / "schedules", {"dataset": "fashion-mnist", **summarise(made)})
