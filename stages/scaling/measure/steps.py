"""What is timed, all in turn: the parts of steps, the steps, and those of the notes' batch."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from statistics import median

from lab.machine.devices import Devices
from lab.parallel.allreduce.times import NOTHING, LocalRank, Variant, gradient_lengths
from lab.parallel.cost_model import ADDING, ONE_BUCKET, PER_TENSOR, RING, STAR, THERE_AND_BACK
from lab.parallel.local_ranks import own_device, time_in_turns
from lab.results.measurements import Measurement, Results, again
from stages.scaling.measure.params import NetParams, Params, ScalingParams
from stages.scaling.measure.predictions import (
    ALLREDUCES,
    HALVES,
    NOTES_IMAGES,
    at_notes_batch,
    predict,
)

Planned = tuple[Measurement, Variant]  # a measurement that lacks its samples, and what is timed
LENET_BY_NOTES = {"net": "lenet", "grouping": PER_TENSOR}


def measure(process: int, params: Params, devices: Devices) -> list[Measurement]:
    """Time all variants in turn, in each rank; predict the steps by their parts."""
    p, device = params.scaling, own_device(devices)
    planned = [(_on(devices, m), variant) for m, variant in planned_of(p)]
    here = LocalRank(device, [variant.world_size for _, variant in planned])
    timed = [here.timed(variant, in_one_process=process == 0) for _, variant in planned]
    bench = params.bench.but(rounds=p.rounds)
    seconds = time_in_turns(dict(enumerate(timed)), bench, process, device)
    measured = [
        replace(m, values=tuple(1e3 * t for t in seconds[i])) for i, (m, _) in enumerate(planned)
    ]
    apart = [
        replace(m, experiment=HALVES, values=(halves(m.values),), unit="%")
        for m in measured[:-1]  # the last is the noise control
        if m.experiment == "step"
    ]
    gradients = {net: gradient_lengths(net) for net in p.nets}
    return [
        *measured,
        *apart,
        *predict(measured, gradients),
        *at_notes_batch(Results(measured), p.world_size),
    ]


def _on(devices: Devices, m: Measurement) -> Measurement:
    return replace(m, device_kind=devices.kind, threads=devices.threads)


def halves(samples: Sequence[float]) -> float:
    """The median of every other round over that of the rest, in percent beyond 100."""
    return 100 * (median(samples[::2]) / median(samples[1::2] or samples) - 1)


def planned_of(p: ScalingParams) -> list[Planned]:
    """All variants; LeNet's step at the notes' batch twice, last as the noise control."""
    planned = [*_messages(p), *_behind_computing(p)]
    planned += [each for net in p.nets for each in _of_net(net, p)]
    [headline] = [
        (m, variant)
        for m, variant in planned
        if (m.experiment, m.variant, m.columns) == ("step", STAR, LENET_BY_NOTES)
        and m.x == _most(p.lenet)
    ]
    m, variant = headline
    return [*planned, (replace(m, variant=again(STAR)), variant)]


def _messages(p: ScalingParams) -> list[Planned]:
    """Single messages, and an addition."""
    sizes = sorted(p.message_bytes)
    timed = [(name, size) for size in sizes for name in (STAR, RING, THERE_AND_BACK)]
    return [
        (_ms("message", name, size), Variant(name, p.world_size, (size // 4,)))
        for name, size in (*timed, (ADDING, sizes[-1]))
    ]


def _behind_computing(p: ScalingParams) -> list[Planned]:
    """Lists of short tensors behind LeNet's shortest and longest steps, and of longer ones behind
    the latter; x: bytes of the longest.

    Every other tensor of these is short, as weights and biases alternate; the longest is alone.
    """
    few, most = min(p.lenet.calibration_images), _most(p.lenet)
    shortest, *longer, longest = (size // 4 for size in sorted(p.message_bytes))
    lists: list[tuple[int, tuple[int, ...]]] = [
        (images, (shortest,) * count) for images in (few, most) for count in p.tensors
    ]
    pairs = sorted(p.tensors)[-2] // 2
    lists += [(most, (length, shortest) * pairs) for length in longer]
    lists.append((most, (longest,)))
    return [
        (
            _ms(
                "behind computing",
                algorithm,
                4 * max(lengths),
                net="lenet",
                images=images,
                tensors=len(lengths),
            ),
            Variant(algorithm, p.world_size, lengths, False, "lenet", images, gradients=False),
        )
        for images, lengths in lists
        for algorithm in (STAR, RING)
    ]


def _of_net(net: str, p: ScalingParams) -> list[Planned]:
    n, of_net, lengths = p.world_size, p.nets[net], gradient_lengths(net)
    alone = partial(Variant, NOTHING, lengths=lengths, net=net)
    joining = Variant(NOTHING, n, lengths, one_bucket=True)
    return [
        (_ms("joining", net, len(lengths)), joining),
        *(
            (_ms("without communication", net, images), alone(n, images=images))
            for images in of_net.calibration_images
        ),
        *(
            (_ms("one device", net, images), alone(1, images=images))
            for images in _on_one_device(net, p)
        ),
        *(
            (
                _ms("step", algorithm, images, net=net, grouping=grouping),
                Variant(algorithm, n, lengths, grouping == ONE_BUCKET, net, images),
            )
            for images in sorted({*of_net.heldout_images, _most(of_net)})
            for algorithm, grouping in ALLREDUCES
        ),
        (_ms("beside the steps", "summing alone", 0, net=net), Variant(STAR, n, lengths)),
    ]


def _ms(experiment: str, variant: str, x: int, **columns: str | int) -> Measurement:
    return Measurement(experiment, variant, x, (), "ms", columns=columns)


def _on_one_device(net: str, p: ScalingParams) -> list[int]:
    """The images of steps on one device: the notes' whole batch where it is within reach."""
    notes, images = NOTES_IMAGES[net], p.nets[net].calibration_images
    return [p.world_size * notes] if notes in images else images


def _most(params: NetParams) -> int:
    """The most images of a device for which computing is measured alone."""
    return max(params.calibration_images)
