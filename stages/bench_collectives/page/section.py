"""The report's section on all-reduce between processes (13.5, 13.7)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.patches import Patch

from lab.parallel import cost_model, link_fit
from lab.parallel.cost_model import (
    ALGORITHMS,
    INTERCONNECTS,
    MODELLED,
    PER_TENSOR,
    RING,
    STAR,
    allreduce_name,
    allreduce_s,
)
from lab.report import benchmarks, figures
from lab.report.benchmarks import TITLES, beside_the_book, ratio_of
from lab.report.language import say, translation
from lab.report.page import Figure, Headline, Section, Table, TryThis
from lab.results.measurements import Measurement, Results
from lab.results.stats import speedup, summarise
from stages.bench_collectives.measure.model import Model, model_of
from stages.bench_collectives.page.explorables import allreduce

# ratios that compare across machines, where times do not
HEADLINES = {"lenet_bucket_speedup": "LeNet's gradients, one bucket over per tensor"}

BOOK_BYTES, BOOK_RATE, BOOK_GPUS = 160e6, 16e9, 4
RESNET_TENSORS, RESNET_BYTES = 76, 44_703_272


def section(folder: Path) -> Section:
    """The section of `folder` (reports/bench_collectives)."""
    results, m = benchmarks.read(folder)
    model = model_of(results)
    nets = [net for net in TITLES if f"{net}_bucket_speedup" in m]
    virtual = m["device_kind"] == "cpu-virtual"
    return Section(
        stage="bench_collectives",
        title=say("Summing gradients between processes"),
        book="13.5, 13.7",
        question=say(
            "What does summing gradients over processes cost, and does a model predict it?"
        ),
        answer=_answer(model, m),
        headline=_headline(m),
        findings=[
            *_link_and_errors(model, m),
            *(_bucket(model, m, net) for net in nets),
            *_volume(model),
            _exactness(model),
            *benchmarks.trust(m),
            *benchmarks.skipped(results),
        ],
        figures=[
            Figure(
                "allreduce_times",
                say(
                    "Time of an all-reduce by each algorithm, for messages small and large and each"
                    " number of ranks, beside the model's."
                ),
                say(
                    "Dots are medians over the starts, lines their middle half, diamonds the"
                    " model's times, fitted to {n} ranks. The scale is logarithmic. The model knows"
                    " neither the library's messages nor those too small for all ranks to share.",
                    n=model.few,
                ),
                [partial(_draw_messages, model, n, virtual) for n in model.cores],
            ),
            Figure(
                "allreduce_gradients",
                say(
                    "Time to sum the gradients of LeNet and ResNet-18, tensor by tensor and in one"
                    " bucket."
                ),
                say(
                    "Bars are medians, their numbers on the right; dots are starts of the"
                    " processes. Blue: tensor by tensor, the star's being the notes' way; orange:"
                    " all in one bucket."
                ),
                [partial(_draw_gradients, model, net, virtual) for net in nets],
            ),
        ],
        tables=[_beside_the_book(model, m), _bandwidths(model), _elsewhere()],
        explorables=[allreduce(model)],
        try_this=TryThis(
            "bench_collectives.world_sizes",
            "[2, 4]",
            say("How much longer will summing 16 MB take with 4 ranks, and does the ring help?"),
            say(
                "About three times as long as with 2, ring or star alike: here all ranks share one"
                " link, which carries 2 (n − 1) times the message whatever the algorithm. With a"
                " link for each rank the ring would win."
            ),
        ),
    )


def _answer(model: Model, m: Mapping[str, Any]) -> str:
    cost = say(
        "A message costs {latency:.0f} µs, bytes pass at {bandwidth}",
        latency=m["latency_us"],
        bandwidth=_rate(_s_per_byte(m)),
    )
    if model.many == model.few:
        return say("{cost}.", cost=cost)
    return say(
        "{cost}; fitted to {few} ranks, the model predicts {many} ranks with {unseen:.0f} %"
        " median error.",
        cost=cost,
        few=model.few,
        many=model.many,
        unseen=m["unseen_error_percent"],
    )


def _headline(m: Mapping[str, Any]) -> Headline | None:
    name = "lenet_bucket_speedup"
    if name not in m:
        return None
    found = ratio_of(m, name)
    return Headline(
        say("{median:.2g} times", median=found.median),
        say(
            "{low:.2g} to {high:.2g}, {level:.0f} % of {starts} starts",
            low=found.low,
            high=found.high,
            level=100 * found.level,
            starts=found.count,
        ),
        say("as fast to sum LeNet's gradients in one bucket as tensor by tensor."),
    )


def _link_and_errors(model: Model, m: Mapping[str, Any]) -> list[str]:
    """The fitted link, and how well it predicts times that it has not seen."""
    shared = m["link"] == "shared"
    low, high = model.interval()
    error, most = link_fit.typical_errors(model.fit.errors)
    sentences = [
        say(
            "Fitted to {few} ranks: latency {latency:.0f} µs per message ({low:.0f} to {high:.0f}),"
            " bandwidth {bandwidth}.",
            few=model.few,
            latency=m["latency_us"],
            low=1e6 * low.alpha_s,
            high=1e6 * high.alpha_s,
            bandwidth=_bandwidth(model, m),
        ),
        say(
            "Adding what arrives runs at {rate}.",
            rate=_rates(*(link.add_s_per_byte for link in (model.fit.link, high, low))),
        ),
        say(
            "Assuming {medium} fits better (median error {error:.0f} %, largest {most:.0f} %) than"
            " {other_medium} (median {other_error:.0f} %).",
            medium=_medium(shared),
            error=error,
            most=most,
            other_medium=_medium(not shared),
            other_error=link_fit.typical_errors(model.other.errors)[0],
        ),
    ]
    if model.many > model.few:
        sentences.append(
            say(
                "On the unseen times of {many} ranks {medium} predicts with a median error of"
                " {unseen:.0f} %, {other_medium} with {others:.0f} %.",
                many=model.many,
                medium=_medium(shared),
                unseen=m["unseen_error_percent"],
                other_medium=_medium(not shared),
                others=model.unseen_error(model.other),
            )
        )
    return sentences


def _medium(shared: bool) -> str:
    return say("one shared link") if shared else say("a link per rank")


def _bandwidth(model: Model, m: Mapping[str, Any]) -> str:
    low, high = model.interval()
    # the most seconds per byte are the fewest bytes per second
    return _rates(_s_per_byte(m), high.s_per_byte, low.s_per_byte)


def _s_per_byte(m: Mapping[str, Any]) -> float:
    """The inverse of the bandwidth; 0 where that has no bound."""
    bandwidth = m["bandwidth_gb_per_s"]
    return 0.0 if isinstance(bandwidth, str) else 1e-9 / bandwidth


def _rate(s_per_byte: float) -> str:
    """A rate; what costs nothing has no bound."""
    if s_per_byte <= 0:
        return say("an unbounded rate")
    return f"{1e-9 / s_per_byte:.3g} GB/s"


def _rates(*s_per_byte: float) -> str:
    """A rate with its interval; what costs nothing has no bound."""
    rate, low, high = (f"{1e-9 / s:.3g}" if s > 0 else say("unbounded") for s in s_per_byte)
    return say("{rate} GB/s ({low} to {high})", rate=rate, low=low, high=high)


def _bucket(model: Model, m: Mapping[str, Any], net: str) -> str:
    """What one bucket does for a net's gradients, by the notes' star."""
    return say(
        "Summing {net}'s gradients in one bucket is {median:.3g} times as fast as tensor by tensor"
        " ({low:.3g} to {high:.3g}); the model predicts {predicted:.3g}.",
        net=TITLES[net],
        predicted=model.bucket_speedup(_tensors(model.results, net)),
        **vars(ratio_of(m, f"{net}_bucket_speedup")),
    )


def _volume(model: Model) -> list[str]:
    """The ring against the star, with the largest message and the most ranks."""
    results, n = model.results, model.many
    star, ring = (results.series("message", name, ranks=n)[-1] for name in (STAR, RING))
    sent = {name: results.series("sent", name, ranks=n)[0].summary.median for name in (STAR, RING)}
    if model.fit.shared:
        volumes = say(
            "The star's rank 0 sends {star:.3g} MB, a rank of the ring {ring:.3g} MB, but all"
            " together send the same, over one link.",
            **sent,
        )
    else:
        volumes = say(
            "The star's rank 0 sends {star:.3g} MB, a rank of the ring {ring:.3g} MB, all at once.",
            **sent,
        )
    return [
        say(
            "With {mb:.3g} MB and {ranks} the ring is {median:.3g} times as fast as the star"
            " ({low:.3g} to {high:.3g}).",
            mb=star.x / 1e6,
            ranks=_ranks(model, n),
            **vars(speedup(star.values, ring.values)),
        ),
        volumes,
    ]


def _exactness(model: Model) -> str:
    sums = [m for m in model.results.measurements if m.experiment == "exact" and min(m.values) < 1]
    if not sums:
        return say("Every sum was exact.")
    return say(
        "Sums were wrong: {variants}.",
        variants=say("; ").join(
            say(
                "{algorithm}, {ranks}",
                algorithm=translation(m.variant),
                ranks=_ranks(model, int(m.columns["ranks"])),
            )
            for m in sums
        ),
    )


def _tensors(results: Results, net: str) -> Measurement:
    """How many tensors a net's gradients are; x is their bytes."""
    return results.series("tensors", net)[0]


def _beside_the_book(model: Model, m: Mapping[str, Any]) -> Table:
    """The book's example, 160 MB of gradients on 4 GPUs: recomputed, and over this link."""
    cost = _s_per_byte(m)
    here = 1 / cost if cost > 0 else np.inf
    ways = (
        (say("one GPU aggregates"), "60 ms", cost_model.one_gpu_aggregates_s),
        (say("the CPU aggregates"), "80 ms", cost_model.cpu_aggregates_s),
        (say("each of 4 GPUs aggregates a quarter"), "15 ms", cost_model.every_gpu_aggregates_s),
    )
    why = say("this link has {rate}, the book's 16 GB/s", rate=_rate(cost))
    rows = []
    for what, printed, seconds in ways:
        book, own = (1e3 * seconds(BOOK_BYTES, rate, BOOK_GPUS) for rate in (BOOK_RATE, here))
        found = say("{own:.0f} ms (at the book's rate {book:.0f} ms)", own=own, book=book)
        rows.append([what, printed, found, why])
    return replace(
        beside_the_book(rows),
        note=say(
            "160 MB of gradients on 4 devices, computed from bandwidth alone: not measured. The"
            " last row assumes links that all send at once, which ranks of one host do not have."
        ),
    )


def _bandwidths(model: Model) -> Table:
    """Each algorithm's bus bandwidth with the largest message, and what its busiest rank sends."""
    results, rows = model.results, []
    for n in model.cores:
        for name in ALGORITHMS:
            largest = results.series("message", name, ranks=n)[-1]
            rates = summarise(
                [cost_model.bus_bandwidth(largest.x, n, t / 1e3) / 1e9 for t in largest.values]
            )
            sent, messages = (
                results.one(experiment, name, ranks=n) for experiment in ("sent", "messages")
            )
            rows.append(
                [
                    say(
                        "{algorithm}, {ranks}", algorithm=translation(name), ranks=_ranks(model, n)
                    ),
                    f"{rates.median:.2f} ({rates.iqr:.2f})",
                    f"{sent.summary.median:.3g}" if sent else "",
                    f"{messages.summary.median:.0f}" if messages else "",
                ]
            )
    return Table(
        [
            say("largest message"),
            say("bus bandwidth, GB/s (IQR)"),
            say("the busiest rank sends, MB"),
            say("in messages"),
        ],
        rows,
        say(
            "Bus bandwidth as nccl-tests count it, 2 (n − 1) / n bytes per byte of the message: it"
            " does not grow with the ranks. What the library sends is not seen."
        ),
    )


def _elsewhere() -> Table:
    """What the model says of ResNet-18's gradient over published links; nothing is measured."""
    rows = []
    for one in INTERCONNECTS:
        times = [
            1e3 * allreduce_s(algorithm, 8, tensors, RESNET_BYTES, one.link)
            for algorithm, tensors in ((STAR, RESNET_TENSORS), (STAR, 1), (RING, 1))
        ]
        latency = f"{one.latency_us:g} µs"
        if one.latency_is_assumed:
            latency = say("{latency} (assumed)", latency=latency)
        rate = f"{one.gb_per_s:.3g}"
        rows.append([translation(one.name), rate, latency, *(f"{t:.3g}" for t in times)])
    sources = [
        say("{link} ({source})", link=translation(one.name), source=translation(one.source))
        for one in INTERCONNECTS
    ]
    return Table(
        [
            say("kind of link"),
            "GB/s",
            say("latency"),
            say("star, per tensor, ms"),
            say("star, one bucket, ms"),
            say("ring, one bucket, ms"),
        ],
        rows,
        say(
            "Predicted for ResNet-18's 44.7 MB in 76 tensors on 8 devices with a link each; not"
            " measured here. Adding is taken to cost nothing. Rates: {sources}.",
            sources=say("; ").join(sources),
        ),
    )


def _ranks(model: Model, n: int) -> str:
    """A number of ranks, and the cores that they share where there are fewer, in words."""
    if cores := model.cores[n]:
        return say("{n} ranks sharing {cores} core(s)", n=n, cores=cores)
    return say("{n} ranks", n=n)


def _size(num_bytes: float) -> str:
    """The size of a message in words."""
    if num_bytes >= 1e6:
        return f"{num_bytes / 1e6:.3g} MB"
    return f"{num_bytes / 1e3:.3g} kB" if num_bytes >= 1e3 else say("{n:.0f} bytes", n=num_bytes)


def _shown(model: Model, n: int) -> list[Measurement]:
    """The times of n ranks to draw: of the largest message, a middle one, the smallest."""
    sizes = [m.x for m in model.results.series("message", STAR, ranks=n)]
    some = dict.fromkeys((sizes[-1], sizes[len(sizes) // 2], sizes[0]))
    timed = (
        model.results.one("message", name, size, ranks=n) for size in some for name in ALGORITHMS
    )
    return [m for m in timed if m]


def _draw_messages(model: Model, n: int, virtual: bool, path: Path) -> None:
    panels = {each: _shown(model, each) for each in model.cores}
    every = [m.summary for times in panels.values() for m in times]
    rows: list[str | Measurement] = []  # a size, then its algorithms
    for m in panels[n]:
        if _size(m.x) not in rows:
            rows.append(_size(m.x))
        rows.append(m)
    with figures.figure(path, figures.WIDTH, 1.3 + 0.21 * len(rows)) as fig:
        axes = fig.add_subplot(xlabel=say("milliseconds, slowest rank"), xscale="log")
        # the same in all panels, so that they can be compared
        axes.set_xlim(min(s.q1 for s in every) / 1.3, max(s.q3 for s in every) * 1.3)
        axes.set_ylim(len(rows) - 0.3, -0.7)
        drawn = [(i, row) for i, row in enumerate(rows) if isinstance(row, Measurement)]
        _draw_times(axes, model, n, drawn)
        labels = [row if isinstance(row, str) else translation(row.variant) for row in rows]
        ticks = axes.set_yticks(range(len(rows)), labels)
        for tick, row in zip(ticks, rows, strict=True):
            tick.label1.set_fontweight("bold" if isinstance(row, str) else "normal")
        axes.set_title(_title(model, n))
        figures.plain_ticks(axes.xaxis)
        axes.grid(visible=False, axis="y")
        _draw_key(fig, axes, virtual)


def _title(model: Model, n: int) -> str:
    ranks = _ranks(model, n)
    if n == model.few:
        return say("{ranks}: fitted", ranks=ranks)
    return say("{ranks}: predicted", ranks=ranks)


def _draw_times(axes: Axes, model: Model, n: int, rows: Sequence[tuple[int, Measurement]]) -> None:
    """Draw measured times with their middle half, and the model's where it has one."""
    blue, orange = figures.COLOURS[:2]
    predicted = [
        (1e3 * model.seconds(m.variant, n, 1, m.x), i)
        for i, m in rows
        if m.variant in MODELLED and m.x >= 4 * n  # as those that it was fitted to
    ]
    for i, m in rows:
        axes.plot([m.summary.q1, m.summary.q3], [i, i], color=blue, linewidth=2)
    medians = [m.summary.median for _, m in rows]
    axes.plot(
        medians, [i for i, _ in rows], "o", color=blue, markersize=5, label=say("measured time")
    )
    axes.plot(
        [ms for ms, _ in predicted],
        [i for _, i in predicted],
        "D",
        color=orange,
        markersize=7,
        markerfacecolor="none",
        markeredgewidth=1.5,
        label=say("model's time"),
    )


def _draw_key(fig: Drawing, axes: Axes, virtual: bool) -> None:
    """Name the marks under the axes, and say of what they are if of virtual devices."""
    handles, labels = axes.get_legend_handles_labels()
    if virtual:
        hatch = figures.VIRTUAL_HATCH
        handles.append(Patch(facecolor="none", edgecolor=figures.INK, hatch=hatch, linewidth=0.8))
        labels.append(say("virtual devices"))
    fig.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)


def _draw_gradients(model: Model, net: str, virtual: bool, path: Path) -> None:
    sums = [
        m
        for algorithm in model.results.variants("gradients", net=net)
        for m in model.results.series("gradients", algorithm, net=net)
    ]
    tensors = _tensors(model.results, net)
    with figures.figure(path, figures.WIDTH, 0.9 + 0.36 * len(sums)) as fig:
        axes = fig.add_subplot(xlabel=say("milliseconds for all gradients"))
        for i, found in enumerate(sums):
            colour = figures.COLOURS[0 if found.columns["grouping"] == PER_TENSOR else 1]
            figures.bar_with_samples(axes, i, found.values, colour, virtual)
            axes.text(
                1.015,
                i,
                f"{found.summary.median:.3g}",
                color=figures.text_colour(colour),
                va="center",
                transform=axes.get_yaxis_transform(),
            )
        axes.set_title(
            say(
                "{net}: {count:.0f} tensors, {mb:.2g} MB",
                net=TITLES[net],
                count=tensors.values[0],
                mb=tensors.x / 1e6,
            )
        )
        named = [allreduce_name(m.variant, str(m.columns["grouping"])) for m in sums]
        axes.set_yticks(range(len(sums)), [translation(name) for name in named])
        axes.set_ylim(len(sums) - 0.4, -0.6)
        axes.set_xlim(left=0)
        axes.grid(visible=False, axis="y")
