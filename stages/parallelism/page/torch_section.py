"""The part of the section on torch's own libraries beside the same by hand."""

from lab.report.language import say
from lab.report.page import Table
from lab.results.measurements import Cell, Results
from stages.parallelism.measure.names import BY_HAND, DATA, DENSE, FULLY_SHARD, PARALLELIZE, TENSOR


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


def table(results: Results) -> Table:
    """Each library's costs beside the same kind's by hand."""

    def row(name: str, n: int) -> list[str]:
        by_hand = BY_HAND[name]
        return [
            say("{kind}, {n} devices", kind=name, n=n),
            f"{value(results, 'calls', name, devices=n):.0f}",
            f"{_sent(results, name, n):.4g}",
            f"{value(results, 'sent by formula', name, devices=n):.4g}",
            f"{_sent(results, by_hand, n):.4g}",
            f"{_state(results, name, n):.3g}",
            f"{_state(results, by_hand, n):.3g}",
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
