"""Made-up results of scaling, as a CPU or a GPU would leave them."""

from lab.machine.devices import DeviceKind
from lab.parallel.cost_model import ADDING, MODELLED, THERE_AND_BACK, allreduce_s
from lab.results.measurements import Measurement
from stages.scaling import __main__ as scaling
from stages.scaling import names
from stages.scaling.params import NetParams, ScalingParams
from stages.scaling.predictor import fit_machines, predict
from stages.scaling.simulated_scaling import simulate
from tests.made_up import LINK, one

LATE = 0.5  # ms, of the first message after a computation
LONGER = 1.05  # than predicted, the made-up steps take
SIZES = (1024, 65536, 2**22)
MS_PER_IMAGE = {"lenet": 0.2, "resnet18": 30.0}  # after a fixed millisecond
GRADIENTS = {"lenet": (1,) * 7 + (129_061,), "resnet18": (1,) * 75 + (11_175_743,)}
SCALING = ScalingParams(
    rounds=8,
    min_sample_ms=1,
    world_size=2,
    message_bytes=list(SIZES),
    lenet=NetParams(calibration_images=[4, 32], heldout_images=[8, 16]),
    resnet18=NetParams(calibration_images=[4, 32], heldout_images=[8]),
)


def measurements(kind: DeviceKind) -> list[Measurement]:
    """Parts just as the model has them, and steps that take a twentieth longer than predicted."""
    made = parts(kind)
    machines = fit_machines(made, 2, GRADIENTS)
    steps = []
    for step in predict(SCALING, machines):
        arm, predicted = names.step(step.net, step.allreduce), step.t1_ms + step.t2_ms
        steps.append(one(names.MEASURED, arm, LONGER * predicted, kind, step.images))
        steps += step.beside_measured(kind, 1)
        steps.append(Measurement(names.SAME_WEIGHTS, arm, step.images, (1.0,), "", kind))
    return [*made, *steps, *simulate(machines)]


def parts(kind: DeviceKind) -> list[Measurement]:
    """Parts just as the model has them."""
    shared, made = kind != "cuda", []

    def message_ms(name: str, size: float) -> float:
        return 1e3 * allreduce_s(name, 2, 1, size, LINK, shared)

    for size in SIZES:
        both_ways = 2 * LINK.alpha_s + 2 * size * LINK.s_per_byte
        made += [one(names.MESSAGE, name, message_ms(name, size), kind, size) for name in MODELLED]
        made.append(one(names.MESSAGE, THERE_AND_BACK, 1e3 * both_ways, kind, size))
    added = SIZES[-1] / 2 * (2 if shared else 1)
    made.append(one(names.MESSAGE, ADDING, 1e3 * added * LINK.add_s_per_byte, kind, SIZES[-1]))
    alone = 1 + 32 * MS_PER_IMAGE["lenet"]
    for name in MODELLED:
        late = alone + LATE + message_ms(name, SIZES[0])
        made.append(one(names.AFTER, name, late, kind, SIZES[0]))
    for net, per_image in MS_PER_IMAGE.items():
        made.append(one(names.JOINING, net, 0.0, kind, len(GRADIENTS[net])))
        made += [one(names.ALONE, net, 1 + per_image * n, kind, n) for n in (4, 32)]
    return made


def summary(made: list[Measurement]) -> dict[str, float | str]:
    """The stage's own metrics of what it measured, its conditions apart."""
    return scaling.summarise(made, 2)
