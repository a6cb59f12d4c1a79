"""Made-up results of schedules, with both nets searched."""

from dataclasses import replace
from pathlib import Path

from lab.core.files import CONDITIONS, write_json, write_rows
from lab.machine.devices import DeviceKind
from lab.results.derived import write_metrics
from lab.results.measurements import Measurement, by_seed, line, rows_of
from stages.schedules import findings
from stages.schedules.measure.by_schedule import drawn
from stages.schedules.measure.names import NO_WARM_UP, WARM_UP

ABOUT = {"dataset": "fashion-mnist", "image_side": 14, "batch_size": 64, "steps": 60}
RATES = {"lenet": (2.0, 2.2), "resnet18": (0.4, 1.6)}  # without warm-up and with it


def schedule_results(nets: dict[str, tuple[float, float]]) -> list[Measurement]:
    """Return the stage's measurements, the same for each seed."""
    made = list(drawn())
    schedules = dict.fromkeys(m.variant for m in made)
    made += [by_seed("schedule_accuracy", name, [70.0] * 8) for name in schedules]
    for net, (plain, warm) in nets.items():
        of_net = [
            by_seed("highest_stable_rate", NO_WARM_UP, [plain] * 8),
            by_seed("highest_stable_rate", WARM_UP, [warm] * 8),
            *(by_seed("divergence_onset", NO_WARM_UP, [10.0] * 8, times) for times in (1, 2, 4)),
            *line("losses", "still learns", range(3), [2.4, 2.3, 2.2]),
            *line("losses", "diverges", range(3), [2.4, 2.3, 2.2]),
        ]
        made += [replace(m, columns={"net": net}) for m in of_net]
    return made


def write(reports: Path, kind: DeviceKind, nets: dict[str, tuple[float, float]] = RATES) -> None:
    """Write the files of `schedules` under `reports`, the same on any device."""
    made = schedule_results(nets)
    write_rows(reports / "schedules", rows_of(made))
    write_json(reports / "schedules" / CONDITIONS, {**ABOUT, "nets": " ".join(nets)})
    write_metrics(reports / "schedules", findings)
