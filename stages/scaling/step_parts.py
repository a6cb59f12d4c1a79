"""The measured parts of a step: computing alone, messages, an addition, the joining of a bucket."""

from lab.machine.devices import Devices
from lab.parallel.allreduce_times import NOTHING, Arm, gradient_lengths, time_among_ranks
from lab.parallel.cost_model import ADDING, MODELLED, THERE_AND_BACK
from lab.results.measurements import Measurement
from stages.scaling import names
from stages.scaling.params import NetParams, ScalingParams

AFTER_SIZES = 3  # of messages after a computation: the shortest ones


def measure_parts(p: ScalingParams, devices: Devices) -> list[Measurement]:
    """Time all parts, in turn."""
    arms = _arms(p)
    found = time_among_ranks([arm for *_, arm in arms], p.rounds, p.min_sample_ms, devices)
    return [
        Measurement(
            demo,
            name,
            x,
            tuple(1e3 * t for t in timed.seconds),
            "ms",
            devices.kind,
            devices.threads,
        )
        for (demo, name, x, _), timed in zip(arms, found, strict=True)
    ]


def _arms(p: ScalingParams) -> list[tuple[str, str, int, Arm]]:
    """Demo, name, x and arm of each part."""
    n, sizes = p.world_size, sorted(p.message_bytes)
    single = [(name, size) for size in p.message_bytes for name in (*MODELLED, THERE_AND_BACK)]
    arms = [
        (names.MESSAGE, name, size, Arm(name, n, (size // 4,)))
        for name, size in (*single, (ADDING, sizes[-1]))
    ]
    images = _middle(p.lenet)
    for name in MODELLED:
        for size in sizes[:AFTER_SIZES]:
            after = Arm(name, n, (size // 4,), net="lenet", images=images, gradients=False)
            arms.append((names.AFTER, name, size, after))
    for net, of_net in p.nets.items():
        lengths = gradient_lengths(net)
        joining = Arm(NOTHING, n, lengths, one_bucket=True)
        arms.append((names.JOINING, net, len(lengths), joining))
        for images in of_net.calibration_images:
            alone = Arm(NOTHING, n, lengths, net=net, images=images)
            arms.append((names.ALONE, net, images, alone))
    return arms


def _middle(params: NetParams) -> int:
    """The images of a computation of middling length."""
    images = sorted(params.calibration_images)
    return images[len(images) // 2]
