"""Made-up results of scaling, as a CPU or a GPU would leave them."""

from lab.machine.devices import DeviceKind
from lab.parallel.cost_model import allreduce_s
from lab.results.measurements import Measurement
from stages.scaling import __main__ as scaling
from stages.scaling.params import NetParams, ScalingParams
from tests.made_up import LINK, one


def _scaling(kind: DeviceKind) -> list[Measurement]:
    """Parts just as the model has them, and steps that take a twentieth longer than their parts."""
    shared, made = kind != "cuda", []
    for size in (1024, 65536, 2**22):
        made += [
            one("message", name, 1e3 * allreduce_s(name, 2, 1, size, LINK, shared), kind, size)
            for name in scaling.MESSAGES
        ]
        there_and_back = 1e3 * (2 * LINK.alpha_s + 2 * size * LINK.s_per_byte)
        made.append(one("message", "there and back", there_and_back, kind, size))
    made.append(
        one(
            "message",
            "adding",
            1e3 * 2**21 * (2 if shared else 1) * LINK.add_s_per_byte,
            kind,
            2**22,
        )
    )
    for name in scaling.MESSAGES:
        late = 7.4 + LATE + 1e3 * allreduce_s(name, 2, 1, 1024, LINK, shared)
        made.append(one("message after computing", name, late, kind, 1024))
    for net, per_image in (("lenet", 0.2), ("resnet18", 30.0)):
        made.append(one("joining", net, 0.0, kind, 8))
        made += [one("without communication", net, 1 + per_image * n, kind, n) for n in (4, 32)]
    return made


def _steps(made: list[Measurement], kind: DeviceKind) -> list[Measurement]:
    found = scaling.machines(made, 2, 0)
    steps = []
    for row in scaling.foretell(SCALING, found):
        arm, x, foretold = (
            f"{row['net']}, {row['way']}",
            float(row["images_per_device"]),
            float(row["foretold_ms"]),
        )
        steps.append(one("measured", arm, 1.05 * foretold, kind, x))
        steps.append(Measurement("foretold", arm, x, (foretold,), "ms", kind))
        steps += [
            Measurement(t, arm, x, (float(row[f"{t}_ms"]),), "ms", kind) for t in ("t1", "t2")
        ]
        steps.append(Measurement("same weights", arm, x, (1.0,), "", kind))
    return [*made, *steps, *scaling.simulate(found)]


LATE = 0.5  # ms, of the first message after a computation


SCALING = ScalingParams(
    rounds=8,
    min_sample_ms=1,
    world_size=2,
    message_bytes=[1024, 65536, 2**22],
    lenet=NetParams(calibration_images=[4, 32], heldout_images=[8, 16]),
    resnet18=NetParams(calibration_images=[4, 32], heldout_images=[8]),
)


def measurements(kind: DeviceKind) -> list[Measurement]:
    """Return what the stage measures."""
    return _steps(_scaling(kind), kind)


def summary(made: list[Measurement]) -> dict[str, float | str]:
    """Return the stage's own metrics of what it measured, its conditions apart."""
    return scaling.summarise(made, scaling.machines(made, 2, 0), 2)
