"""The part of the section on torch's own libraries beside the same by hand."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib.ticker import MaxNLocator

from lab.report import figures
from lab.report.language import say, translation
from lab.report.page import Figure, Table
from lab.results.curves import Curve
from lab.results.stats import Ratio, speedup
from stages.parallelism.measure.names import (
    BY_HAND,
    DATA,
    FULLY_SHARD,
    PARALLELIZE,
    TENSOR,
    TORCH_STEP_MS,
    WIDE_CALLS,
    WIDE_MODEL_MB,
    WIDE_MOVED_MB,
    WIDE_STATE_MB,
    kind_and_devices,
    on_devices,
)

Experiments = Mapping[str, Mapping[str, Curve]]
TIMED_ON = 2  # devices


def findings(experiments: Experiments) -> list[str]:
    """What the libraries send and hold, over what is done by hand, on the fewest devices."""
    n = min(_device_counts(experiments))
    return [
        say(
            "By torch's libraries dense layers send what formulas say, to {percent:.2g} %;"
            " fully_shard holds {state:.2g} times data parallelism's state and sends {more:.3g}"
            " times its bytes.",
            percent=_farthest_from_model(experiments),
            state=_state(experiments, FULLY_SHARD, n) / _state(experiments, DATA, n),
            more=_sent(experiments, FULLY_SHARD, n) / _sent(experiments, DATA, n),
        ),
        say(
            "parallelize_module sends {less:.2g} times the bytes of tensor parallelism by hand: it"
            " sums behind every second layer only.",
            less=_sent(experiments, PARALLELIZE, n) / _sent(experiments, TENSOR, n),
        ),
    ]


def table(experiments: Experiments, with_times: bool) -> Table:
    """Each library's costs beside the same kind's by hand."""

    def row(name: str, n: int) -> list[str]:
        series, by_hand = on_devices(name, n), BY_HAND[name]
        timed = with_times and n == TIMED_ON
        return [
            say("{kind}, {n} devices", kind=name, n=n),
            f"{experiments[WIDE_CALLS][series].y[-1]:.0f}",
            f"{_sent(experiments, name, n):.4g}",
            f"{experiments[WIDE_MODEL_MB][series].y[-1]:.4g}",
            f"{_sent(experiments, by_hand, n):.4g}",
            f"{_state(experiments, name, n):.3g}",
            f"{_state(experiments, by_hand, n):.3g}",
            *(
                [_ratio_in_words(over_by_hand(experiments, name)) if timed else "–"]
                if with_times
                else []
            ),
        ]

    return Table(
        [
            say("four dense layers by torch"),
            say("calls of a process"),
            say("MB sent"),
            say("by formula"),
            say("by hand"),
            say("MB of state"),
            say("by hand"),
            *([say("times as long as by hand")] if with_times else []),
        ],
        [row(name, n) for n in _device_counts(experiments) for name in BY_HAND],
        say(
            "A step on {images:.0f} images, each device a process. Calls: collectives and messages"
            " of the process that makes most. By hand: data, tensor and pipeline parallelism of"
            " this page, in threads. Padding to equal shares is what a library sends beyond its"
            " formula.",
            images=next(iter(experiments[WIDE_CALLS].values())).x[-1],
        ),
    )


def figure(experiments: Experiments, virtual: bool) -> Figure:
    """Times of a step by hand and by torch."""
    return Figure(
        "parallelism_torch",
        say("Time of a step on two devices by hand and by torch's libraries, four dense layers."),
        say(
            "Bars are medians, dots the starts of the processes from top to bottom. By hand the"
            " devices are threads of one process, by torch (fully_shard, parallelize_module,"
            " torch.distributed.pipelining) processes of their own, which hand everything on"
            " through the host. “times”: against the same kind by hand."
        ),
        [partial(_draw, experiments, virtual)],
    )


def over_by_hand(experiments: Experiments, name: str) -> Ratio:
    """How many times as long a library's step takes as the same kind's by hand."""
    times = experiments[TORCH_STEP_MS]
    return speedup(list(times[name].y), list(times[BY_HAND[name]].y))


def _device_counts(experiments: Experiments) -> list[int]:
    found = {kind_and_devices(name)[1].partition(" ")[0] for name in experiments[WIDE_CALLS]}
    return sorted(map(int, found))


def _sent(experiments: Experiments, name: str, n: int) -> float:
    """MB, of the larger batch."""
    return float(experiments[WIDE_MOVED_MB][on_devices(name, n)].y[-1])


def _state(experiments: Experiments, name: str, n: int) -> float:
    held = experiments[WIDE_STATE_MB][name]
    return float(held.y[list(held.x).index(n)])


def _farthest_from_model(experiments: Experiments) -> float:
    """Percent between what a library sent and its formula, where these differ most."""
    return max(
        float(np.abs(experiments[WIDE_MOVED_MB][series].y / model.y - 1).max() * 100)
        for series, model in experiments[WIDE_MODEL_MB].items()
    )


def _ratio_in_words(found: Ratio) -> str:
    return say(
        "{ratio:.3g} ({low:.3g} to {high:.3g})", ratio=found.median, low=found.low, high=found.high
    )


def _draw(experiments: Experiments, virtual: bool, path: Path) -> None:
    times = experiments[TORCH_STEP_MS]
    rows = [name for library, by_hand in BY_HAND.items() for name in (by_hand, library)]
    longest = max(max(times[name].y) for name in rows)
    with figures.figure(path, figures.WIDTH, 3.2) as fig:
        axes = fig.add_subplot(xlabel=say("ms per step"))
        for row, name in enumerate(rows):
            samples, of_torch = times[name].y, name in BY_HAND
            colour = figures.COLOURS[int(of_torch)]
            figures.bar_with_samples(axes, row, list(samples), colour, virtual)
            ms = f"{np.median(samples):.3g}"
            axes.annotate(
                say(
                    "{ms} ms: {ratio:.3g} times",
                    ms=ms,
                    ratio=over_by_hand(experiments, name).median,
                )
                if of_torch
                else say("{ms} ms", ms=ms),
                (max(samples), row),
                (6, 0),
                textcoords="offset points",
                va="center",
            )
        axes.xaxis.set_major_locator(MaxNLocator(5, prune="upper"))
        labels = [
            name.partition(" (")[0].removeprefix("torch.") if name in BY_HAND else translation(name)
            for name in rows
        ]
        axes.set_yticks(range(len(rows)), labels)
        axes.set(xlim=(0, 1.95 * longest), ylim=(len(rows) - 0.4, -0.6))
        axes.grid(visible=False, axis="y")
