"""What is timed, all in turn: the parts of steps, the steps, and those of the notes' batch.

After all turns, steps in a row: an epoch, or a part of it.
"""

from dataclasses import replace
from functools import partial

from lab.core.shared_params import BenchParams
from lab.machine.devices import Devices
from lab.parallel.allreduce.times import NOTHING, Variant, gradient_lengths, time_among_ranks
from lab.parallel.cost_model import ADDING, ONE_BUCKET, STAR, THERE_AND_BACK
from lab.results.measurements import AGAIN, Measurement, again
from stages.scaling.measure import names
from stages.scaling.measure.params import NetParams, ScalingParams

Named = tuple[str, str, int, Variant]  # experiment, name, x, variant


def measure(p: ScalingParams, bench: BenchParams, devices: Devices) -> list[Measurement]:
    """Time all variants in turn; say whether replicas stayed the same."""
    variants = variants_of(p)
    several = bench.model_copy(update={"rounds": p.rounds})
    found = time_among_ranks([variant for *_, variant in variants], several, devices)
    measured = []
    for (experiment, name, x, _), timed in zip(variants, found, strict=True):
        on = devices.kind, devices.threads
        milliseconds = tuple(1e3 * t for t in timed.seconds)
        measured.append(Measurement(experiment, name, x, milliseconds, "ms", *on))
        if experiment == names.MEASURED and not name.endswith(AGAIN):
            same = (float(timed.exact),)
            measured.append(Measurement(names.SAME_WEIGHTS, name, x, same, "", *on))
            halves = tuple(100 * (a / b - 1) for a, b in timed.halves)
            measured.append(Measurement(names.HALVES, name, x, halves, "%", *on))
    return measured


def variants_of(p: ScalingParams) -> list[Named]:
    """All variants; LeNet's step at the notes' batch thrice: as the noise control, and in a row."""
    variants = [*_messages(p), *_behind_computing(p)]
    variants += [variant for net in p.nets for variant in _of_net(net, p)]
    headline = names.MEASURED, names.step("lenet", names.BY_NOTES), _most(p.lenet)
    [control] = [variant for *place, variant in variants if tuple(place) == headline]
    experiment, name, x = headline
    in_a_row = replace(control, in_a_row=p.steps_in_a_row)
    return [
        *variants,
        (experiment, again(name), x, control),
        (names.IN_A_ROW, name, p.steps_in_a_row, in_a_row),
    ]


def _messages(p: ScalingParams) -> list[Named]:
    """Single messages, and an addition."""
    n, sizes = p.world_size, sorted(p.message_bytes)
    return [
        *(
            (names.MESSAGE, name, size, Variant(name, n, (size // 4,)))
            for size in sizes
            for name in (*names.ALGORITHMS, THERE_AND_BACK)
        ),
        (names.MESSAGE, ADDING, sizes[-1], Variant(ADDING, n, (sizes[-1] // 4,))),
    ]


def _behind_computing(p: ScalingParams) -> list[Named]:
    """Lists of short tensors behind LeNet's and ResNet-18's steps, and of longer ones.

    Every other tensor of these is short, as weights and biases alternate; the longest is alone.
    """
    few, most = min(p.lenet.calibration_images), _most(p.lenet)
    resnet = "resnet18", min(p.resnet18.calibration_images)
    shortest, *longer, longest = (size // 4 for size in sorted(p.message_bytes))
    lists = [
        (net, images, (shortest,) * count)
        for net, images in (("lenet", few), ("lenet", most), resnet)
        for count in p.tensors
    ]
    pairs = sorted(p.tensors)[-2] // 2
    lists += [(*resnet, (length, shortest) * pairs) for length in longer]
    lists.append((*resnet, (longest,)))
    return [
        (
            names.behind(net, images),
            names.tensors(algorithm, len(lengths)),
            4 * max(lengths),
            Variant(algorithm, p.world_size, lengths, False, net, images, False),
        )
        for net, images, lengths in lists
        for algorithm in names.ALGORITHMS
    ]


def _of_net(net: str, p: ScalingParams) -> list[Named]:
    n, of_net, lengths = p.world_size, p.nets[net], gradient_lengths(net)
    most = _most(of_net)
    alone = partial(Variant, NOTHING, lengths=lengths, net=net)
    variants = [(names.JOINING, net, len(lengths), Variant(NOTHING, n, lengths, one_bucket=True))]
    variants += [
        (names.ALONE, net, images, alone(n, images=images)) for images in of_net.calibration_images
    ]
    variants += [
        (names.ONE_DEVICE, net, images, alone(1, images=images))
        for images in _on_one_device(net, p)
    ]
    variants += [
        (
            names.MEASURED,
            names.step(net, allreduce),
            images,
            Variant(algorithm, n, lengths, grouping == ONE_BUCKET, net, images),
        )
        for images in sorted({*of_net.heldout_images, most})
        for allreduce, (algorithm, grouping) in names.ALLREDUCES.items()
    ]
    variants.append((names.OTHERS, names.step(net, names.SUMMING), 0, Variant(STAR, n, lengths)))
    return variants


def _on_one_device(net: str, p: ScalingParams) -> list[int]:
    """The images of steps on one device: the notes' whole batch where it is within reach."""
    notes, images = names.NOTES_IMAGES[net], p.nets[net].calibration_images
    return [p.world_size * notes] if notes in images else images


def _most(params: NetParams) -> int:
    """The most images of a device for which computing is measured alone."""
    return max(params.calibration_images)
