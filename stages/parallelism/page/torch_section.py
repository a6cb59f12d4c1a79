"""The part of the section on torch's own libraries beside the same by hand."""

from functools import partial
from pathlib import Path

import numpy as np
from matplotlib.ticker import MaxNLocator

from lab.report import figures
from lab.report.language import say, translation
from lab.report.page import Figure, Table
from lab.results.measurements import Cell, Results
from lab.results.stats import Ratio, speedup
from stages.parallelism.measure.names import BY_HAND, DATA, DENSE, FULLY_SHARD, PARALLELIZE, TENSOR

TIMED_ON = 2  # devices


def value(results: Results, experiment: str, variant: str, **columns: Cell) -> float:
    """What was counted of a variant, by the larger batch; a ValueError if it is unknown."""
    *_, m = results.series(experiment, variant, **columns)
    return m.values[0]


def findings(results: Results) -> list[str]:
    """What the libraries send and hold, over what is done by hand, on the fewest devices."""
    n = min(_device_counts(results))
    return [
        say(
            "By torch's libraries dense layers send what formulas say, to {percent:.2g} %;"
            " fully_shard holds {state:.2g} times data parallelism's state and sends {more:.3g}"
            " times its bytes.",
            percent=_farthest_from_model(results),
            state=_state(results, FULLY_SHARD, n) / _state(results, DATA, n),
            more=_sent(results, FULLY_SHARD, n) / _sent(results, DATA, n),
        ),
        say(
            "parallelize_module sends {less:.2g} times the bytes of tensor parallelism by hand: it"
            " sums behind every second layer only.",
            less=_sent(results, PARALLELIZE, n) / _sent(results, TENSOR, n),
        ),
    ]


def table(results: Results, with_times: bool) -> Table:
    """Each library's costs beside the same kind's by hand."""

    def row(name: str, n: int) -> list[str]:
        by_hand = BY_HAND[name]
        timed = with_times and n == TIMED_ON
        return [
            say("{kind}, {n} devices", kind=name, n=n),
            f"{value(results, 'calls', name, devices=n):.0f}",
            f"{_sent(results, name, n):.4g}",
            f"{value(results, 'sent by formula', name, devices=n):.4g}",
            f"{_sent(results, by_hand, n):.4g}",
            f"{_state(results, name, n):.3g}",
            f"{_state(results, by_hand, n):.3g}",
            *(
                [_ratio_in_words(over_by_hand(results, name)) if timed else "–"]
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
        [row(name, n) for n in _device_counts(results) for name in BY_HAND],
        say(
            "A step on {images:.0f} images, each device a process. Calls: collectives and messages"
            " of the process that makes most. By hand: data, tensor and pipeline parallelism of"
            " this page, in threads. Padding to equal shares is what a library sends beyond its"
            " formula.",
            images=max(m.x for m in results.measurements if m.experiment == "calls"),
        ),
    )


def figure(results: Results, virtual: bool) -> Figure:
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
        [partial(_draw, results, virtual)],
    )


def over_by_hand(results: Results, name: str) -> Ratio:
    """How many times as long a library's step takes as the same kind's by hand."""
    return speedup(_times(results, name), _times(results, BY_HAND[name]))


def _times(results: Results, variant: str) -> tuple[float, ...]:
    [m] = results.series("step among ranks", variant)
    return m.values


def _device_counts(results: Results) -> list[int]:
    found = (m for m in results.measurements if m.experiment == "calls")
    return sorted({int(m.columns["devices"]) for m in found})


def _sent(results: Results, name: str, n: int) -> float:
    """MB, of the larger batch."""
    return value(results, "sent", name, net=DENSE, devices=n)


def _state(results: Results, name: str, n: int) -> float:
    return value(results, "state", name, devices=n)


def _farthest_from_model(results: Results) -> float:
    """Percent between what a library sent and its formula, where these differ most."""
    pairs = (
        (m, results.one("sent", m.variant, m.x, **m.columns))
        for m in results.measurements
        if m.experiment == "sent by formula"
    )
    return max(abs(sent.values[0] / m.values[0] - 1) * 100 for m, sent in pairs if sent)


def _ratio_in_words(found: Ratio) -> str:
    return say(
        "{ratio:.3g} ({low:.3g} to {high:.3g})", ratio=found.median, low=found.low, high=found.high
    )


def _draw(results: Results, virtual: bool, path: Path) -> None:
    rows = [name for library, by_hand in BY_HAND.items() for name in (by_hand, library)]
    longest = max(max(_times(results, name)) for name in rows)
    with figures.figure(path, figures.WIDTH, 3.2) as fig:
        axes = fig.add_subplot(xlabel=say("ms per step"))
        for row, name in enumerate(rows):
            samples, of_torch = _times(results, name), name in BY_HAND
            colour = figures.COLOURS[int(of_torch)]
            figures.bar_with_samples(axes, row, list(samples), colour, virtual)
            ms = f"{np.median(samples):.3g}"
            axes.annotate(
                say("{ms} ms: {ratio:.3g} times", ms=ms, ratio=over_by_hand(results, name).median)
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
