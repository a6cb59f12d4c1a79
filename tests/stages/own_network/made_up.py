"""Made-up results of own_network: a net that a compiler and bfloat16 help, together most."""

from dataclasses import replace

from lab.machine.devices import DeviceKind
from lab.results.measurements import Measurement, again, skip
from lab.results.reasons import NEEDS_GPU, Reason
from stages.own_network.measure import names
from stages.own_network.measure.names import ALL, ALONE, BASELINE, OPPONENT, TOGETHER
from tests.made_up import STARTS, one

MS = {
    **{BASELINE: 20.0, again(BASELINE): 20.0, names.CHANNELS_LAST: 20.0, names.BF16: 16.0},
    **{names.COMPILE: 12.5, names.FUSED: 19.8, names.MEMORY: 20.2, names.ONE_THREAD: 30.0},
    **{names.WORKERS: 25.0, names.IN_MEMORY: 19.9, names.LARGER_BATCH: 10.0},
}
ON_GPUS = {names.TF32: 18.0, names.GRAPH: 14.0, names.PINNED: 19.9, names.TWO_DEVICES: 15.0}
PARTS = {names.INPUT: 1.0, names.FORWARD: 6.0, names.BACKWARD: 11.0, names.UPDATE: 3.0}
LOSSES = 3
SEEDS_DIFFER = 0.1  # seed i has so much more of a loss than seed i - 1
MOVED = {names.LARGER_BATCH: 1.0, names.FUSED: 0.5}  # by how much they move all losses


def measurements(kind: DeviceKind) -> list[Measurement]:
    on_gpu = kind == "cuda"
    ms = MS | (ON_GPUS if on_gpu else {})
    made = [one(ALONE, name, each, kind, 64) for name, each in ms.items()]
    techniques = ms.keys() - {BASELINE, again(BASELINE)}
    made += [one(OPPONENT, name, MS[BASELINE], kind, 64) for name in techniques]
    made += [one(TOGETHER, name, each, kind, 64) for name, each in {BASELINE: 20, ALL: 10}.items()]
    made += [Measurement(names.COMBINED, name, 0, (1.0,)) for name in (names.COMPILE, names.BF16)]
    for name in ms.keys() - {again(BASELINE)}:
        first_s = 15.0 if name in (names.COMPILE, names.GRAPH) else 0.1
        made.append(one(names.FIRST_STEP, name, first_s, kind, unit="s"))
        made.append(one(names.PEAK_MEMORY, name, 80.0, kind, unit="MiB"))
        losses = tuple(2 + SEEDS_DIFFER * i + MOVED.get(name, 0.0) for i in range(STARTS))
        made += [
            replace(one(names.LOSS, name, 0, kind, step, ""), values=losses)
            for step in range(LOSSES)
        ]
    parts = PARTS | {names.OF_FEW: 4.0}
    made += [one(names.PARTS, name, each, kind) for name, each in parts.items()]
    counted = {names.FLOP: 1.0, names.BYTES: 0.2}
    rates = {names.FLOP: 200.0, names.BYTES: 40.0}
    made += [one(names.COUNTED, name, each, kind, unit="G") for name, each in counted.items()]
    made += [one(names.RATE, name, each, kind, unit="G/s") for name, each in rates.items()]
    if on_gpu:
        return made
    return [*made, *(skip(ALONE, name, Reason(NEEDS_GPU), kind) for name in ON_GPUS)]


def conditions(made: list[Measurement]) -> dict[str, float | str]:
    """The stage's own conditions."""
    return {names.FILE: "mine.py", names.PARAMETERS: 205_066, names.BATCH_SIZE: 64}
