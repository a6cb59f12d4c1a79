"""The measured steps that the predictor has not seen."""

from collections.abc import Sequence

from lab.machine.devices import Devices
from lab.parallel.allreduce_times import (
    Arm,
    controls,
    gradient_lengths,
    noise_control,
    time_among_ranks,
)
from lab.parallel.cost_model import ONE_BUCKET
from lab.results.measurements import Measurement
from stages.scaling import names
from stages.scaling.params import ScalingParams
from stages.scaling.predictor import PredictedStep


def measure_steps(
    steps: Sequence[PredictedStep], p: ScalingParams, devices: Devices, aa_runs: int
) -> list[Measurement]:
    """Time the steps, with a noise control among them, and put their predictions beside them."""
    arms = [
        Arm(
            algorithm,
            s.world_size,
            gradient_lengths(s.net),
            grouping == ONE_BUCKET,
            s.net,
            s.images,
        )
        for s in steps
        for algorithm, grouping in [names.ALLREDUCES[s.allreduce]]
    ]
    arms += controls(p.world_size, aa_runs)
    found = time_among_ranks(arms, p.rounds, p.min_sample_ms, devices)
    measured = noise_control(found[len(steps) :], devices)
    for step, timed in zip(steps, found[: len(steps)], strict=True):
        arm, x = names.step(step.net, step.allreduce), step.images
        milliseconds = tuple(1e3 * t for t in timed.seconds)
        on = devices.kind, devices.threads
        measured += [
            Measurement(names.MEASURED, arm, x, milliseconds, "ms", *on),
            *step.beside_measured(*on),
            Measurement(names.SAME_WEIGHTS, arm, x, (float(timed.exact),), "", *on),
        ]
    return measured
