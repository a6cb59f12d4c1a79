"""The report's section on sums of gradients during the backward pass (13.3, 13.7)."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lab.report import benchmarks, figures
from lab.report.benchmarks import TITLES, ratio_of
from lab.report.language import say
from lab.report.page import Figure, Section, Table, TryThis
from lab.results.measurements import Measurement, Results
from stages.bench_buckets.measure.names import AT_LAST, AT_ONCE, SPEEDUP, SUMMING

# ratios that compare across machines, where times do not
HEADLINES = {SPEEDUP: "ResNet-18's sums during the backward pass over after it"}


def section(folder: Path) -> Section:
    """The section of `folder` (reports/bench_buckets)."""
    results, m = benchmarks.read(folder)
    virtual = m["device_kind"] == "cpu-virtual"
    return Section(
        stage="bench_buckets",
        title=say("Summing gradients while others are computed"),
        book="13.3, 13.7",
        question=say("How much of summing gradients hides behind the backward pass?"),
        answer=_answer(results, m),
        findings=[
            _model(results, virtual),
            *(_ready(results, net) for net in TITLES),
            *benchmarks.trust(m),
        ],
        figures=[
            Figure(
                "buckets_exposed",
                say(
                    "Milliseconds by which sums make a step longer, for each size of buckets, and"
                    " what the model leaves exposed."
                ),
                say(
                    "Bars are medians, dots the starts of the processes. Diamonds: predicted if"
                    " sums take nothing of the computing. A bucket that holds all gradients is full"
                    " only when the pass ends."
                ),
                [partial(_draw_exposed, results, net, virtual) for net in TITLES],
            ),
            Figure(
                "buckets_ready",
                say("Share of the gradients' bytes that are ready in the backward pass."),
                say(
                    "Medians over the starts, both axes in percent of the whole. What is ready"
                    " early can be summed behind the rest of the pass."
                ),
                [partial(_draw_ready, results)],
            ),
        ],
        tables=[_table(results)],
        try_this=TryThis(
            "bench_buckets.resnet18.bucket_mib",
            "[0.1, 100]",
            say("What will buckets of 0.1 MiB cost and gain?"),
            say(
                "Each of ResNet-18's larger gradients is then a bucket of its own, full as soon as"
                " it is computed, so the model leaves hardly anything exposed. But each sum costs"
                " its messages: sums alone take longer, and so does the step."
            ),
        ),
    )


def _answer(results: Results, m: Mapping[str, Any]) -> str:
    if SPEEDUP not in m:
        most = results.series("exposed", AT_ONCE, net="resnet18")[-1]
        return say("ResNet-18's step is {ms:.3g} ms longer for its sums.", ms=most.summary.median)
    found = ratio_of(m, SPEEDUP)
    gain = say(
        "ResNet-18's step with sums during the pass is {median:.3g} times as fast as with sums"
        " after it ({low:.3g} to {high:.3g})",
        **vars(found),
    )
    return {
        "faster": say("It helps: {gain}.", gain=gain),
        "slower": say("It hinders: {gain}.", gain=gain),
        "inconclusive": say("No gain is sure: {gain}.", gain=gain),
    }[found.verdict]


def _sizes(results: Results, net: str) -> list[float]:
    return [m.x for m in results.series("exposed", AT_ONCE, net=net)]


def _one(results: Results, experiment: str, net: str, variant: str, mib: float) -> Measurement:
    found = results.one(experiment, variant, mib, net=net)
    assert found is not None, "every size has it"  # noqa: S101
    return found


def _median(results: Results, experiment: str, net: str, variant: str, mib: float) -> float:
    return _one(results, experiment, net, variant, mib).summary.median


def _model(results: Results, virtual: bool) -> str:
    """The size at which the model leaves least, measured and predicted."""
    net = "resnet18"
    best = min(
        _sizes(results, net),
        key=lambda mib: _median(results, "predicted exposed", net, AT_ONCE, mib),
    )
    numbers = {
        "mib": best,
        "sums": _median(results, "step", net, SUMMING, best),
        "model": _median(results, "predicted exposed", net, AT_ONCE, best),
        "exposed": _median(results, "exposed", net, AT_ONCE, best),
    }
    if virtual:
        return say(
            "With {mib:g} MiB {model:.2g} of {sums:.3g} ms would stay exposed, but {exposed:.3g}"
            " do: one processor computes and sums, so nothing hides.",
            **numbers,
        )
    return say(
        "With {mib:g} MiB {exposed:.3g} of {sums:.3g} ms of sums stay exposed; the model leaves"
        " {model:.2g}.",
        **numbers,
    )


def _ready(results: Results, net: str) -> str:
    found = results.series("ready by half of the pass", "all gradients", net=net)[0].summary
    return say(
        "Of {net}'s gradients {percent:.0f} % of the bytes are ready by half of the backward pass.",
        net=TITLES[net],
        percent=found.median,
    )


def _ms(m: Measurement) -> str:
    """A median in milliseconds, and the width of the middle half."""
    return figures.minus(f"{m.summary.median:.3g} ({m.summary.iqr:.2g})")


def _table(results: Results) -> Table:
    rows = []
    for net in TITLES:
        for mib in _sizes(results, net):
            rows.append(
                [
                    say("{net}, {mib:g} MiB", net=TITLES[net], mib=mib),
                    f"{_median(results, 'buckets', net, 'all gradients', mib):.0f}",
                    _ms(_one(results, "step", net, SUMMING, mib)),
                    _ms(_one(results, "exposed", net, AT_LAST, mib)),
                    f"{_median(results, 'predicted exposed', net, AT_LAST, mib):.3g}",
                    _ms(_one(results, "exposed", net, AT_ONCE, mib)),
                    f"{_median(results, 'predicted exposed', net, AT_ONCE, mib):.3g}",
                ]
            )
    return Table(
        [
            say("most of a bucket"),
            say("number of buckets"),
            say("sums alone, ms (IQR)"),
            say("exposed after the pass, ms (IQR)"),
            say("the model's, ms"),
            say("exposed at once, ms (IQR)"),
            say("the model's, ms"),
        ],
        rows,
        say(
            "Exposed: by how much a step is longer than one that sums nothing. Predicted from the"
            " sums alone and from when gradients are ready, start by start."
        ),
    )


def _draw_exposed(results: Results, net: str, virtual: bool, path: Path) -> None:
    rows = [(mib, variant) for mib in _sizes(results, net) for variant in (AT_ONCE, AT_LAST)]
    words = {AT_ONCE: say("at once"), AT_LAST: say("after the pass")}
    with figures.figure(path, figures.WIDTH, 1.2 + 0.33 * len(rows)) as fig:
        axes = fig.add_subplot(xlabel=say("ms exposed per step"))
        axes.set_title(TITLES[net])
        for row, (mib, variant) in enumerate(rows):
            samples = _one(results, "exposed", net, variant, mib).values
            colour = figures.COLOURS[0 if variant == AT_ONCE else 1]
            figures.bar_with_samples(axes, row, samples, colour, virtual)
            axes.plot(
                _median(results, "predicted exposed", net, variant, mib),
                row,
                "D",
                color=figures.INK,
                markersize=7,
                markerfacecolor="none",
                markeredgewidth=1.5,
                label=None if row else say("the model's time"),
            )
        axes.set_yticks(
            range(len(rows)),
            [say("{mib:g} MiB, {when}", mib=mib, when=words[variant]) for mib, variant in rows],
        )
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.grid(visible=False, axis="y")
        figures.key(fig, axes)


def _draw_ready(results: Results, path: Path) -> None:
    with figures.figure(path, figures.WIDTH, 2.8) as fig:
        axes = fig.add_subplot(xlabel=say("% of the backward pass"))
        axes.set_title(say("Ready gradients, % of their bytes"))
        axes.set(xlim=(0, 100), ylim=(0, 103))
        for i, (net, title) in enumerate(TITLES.items()):
            each = sorted(
                (found.summary.median, found.x)
                for name in results.variants("gradient ready", net=net)
                for found in results.series("gradient ready", name, net=net)
            )
            at, num_bytes = np.array(each).T
            x = np.concatenate([[0], 100 * at / at[-1]])
            y = np.concatenate([[0], 100 * np.cumsum(num_bytes) / num_bytes.sum()])
            axes.step(
                x,
                y,
                where="post",
                color=figures.COLOURS[i],
                linestyle=("-", (0, (4, 2)))[i],
                linewidth=2,
                label=title,
            )
        figures.key(fig, axes)
