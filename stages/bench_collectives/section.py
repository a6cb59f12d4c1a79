"""The report's section on all-reduce between processes (13.5, 13.7)."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from lab.parallel import cost_model, link_fit
from lab.parallel.cost_model import (
    ALGORITHMS,
    INTERCONNECTS,
    LIBRARY,
    MODELLED,
    ONE_BUCKET,
    PER_TENSOR,
    RING,
    STAR,
    allreduce_name,
    allreduce_s,
)
from lab.report import benchmarks, figures
from lab.report.benchmarks import (
    beside_the_book,
    curve_of,
    ratio,
    ratio_of,
    ratio_text,
    verdict_text,
)
from lab.report.language import say
from lab.report.page import Figure, Section, Table, TryThis
from lab.results.measurements import Measurement, Results
from lab.results.stats import speedup, summarise
from stages.bench_collectives import names
from stages.bench_collectives.predicted_times import Model, model_of

# ratios that compare across machines, where times do not
HEADLINES = {names.bucket_speedup("lenet"): "LeNet's gradients, one bucket over per tensor"}

TITLES = {"lenet": "LeNet", "resnet18": "ResNet-18"}
BOOK_BYTES, BOOK_RATE, BOOK_GPUS = 160e6, 16e9, 4
RESNET_TENSORS, RESNET_BYTES = 76, 44_703_272


def section(folder: Path) -> Section:
    """The section of `folder` (reports/bench_collectives)."""
    results, m = benchmarks.read(folder)
    model = model_of(results)
    nets = [net for net in TITLES if names.bucket_speedup(net) in m]
    return Section(
        stage="bench_collectives",
        title=say("Summing gradients between processes"),
        book="13.5, 13.7",
        question=say(
            "What does summing gradients over processes cost, and does a model predict it?"
        ),
        findings=[
            _link_and_errors(model, m),
            *(_buckets(model, m, net) for net in nets),
            _volume(model),
            _exactness(results),
            benchmarks.trust(m),
            *benchmarks.skipped(results),
        ],
        figures=[
            Figure(
                "allreduce_times",
                say(
                    "Time of an all-reduce against the size of the message, for each algorithm and"
                    " number of ranks."
                ),
                say(
                    "Lines are medians of the slowest rank over the starts, bands their middle"
                    " half. The dashed lines are the model's: fitted to {n} ranks, and predicted"
                    " for more.",
                    n=model.few,
                ),
                partial(_draw_messages, model),
            ),
            Figure(
                "allreduce_gradients",
                say(
                    "Time to sum the gradients of LeNet and ResNet-18, tensor by tensor and in one"
                    " bucket."
                ),
                say(
                    "Dots are starts of the processes, bars medians. Per tensor by the star is the"
                    " notes' way."
                ),
                partial(_draw_gradients, model, nets, m["device_kind"] == "cpu-virtual"),
            ),
        ],
        tables=[_beside_the_book(model, m), _bandwidths(model), _elsewhere()],
        try_this=TryThis(
            "bench_collectives.world_sizes",
            "[2, 3, 5]",
            say("see what ranks that are no power of two cost"),
        ),
    )


def _link_and_errors(model: Model, m: Mapping[str, Any]) -> str:
    """The fitted link, and how well it predicts times that it has not seen."""
    shared = m[names.LINK] == names.SHARED
    low, high = model.interval()
    error, most = link_fit.typical_errors(model.fit.errors)
    text = say(
        "From {few} ranks the times give {latency:.0f} us a message ({low:.0f} to {high:.0f}),"
        " {bandwidth}, and adding at {reduce}. The model fits better as if {medium} (off by"
        " {error:.0f} % in the median, {most:.0f} % at most) than as if {other_medium}"
        " ({other_error:.0f} %).",
        few=model.few,
        latency=m[names.LATENCY],
        low=1e6 * low.alpha_s,
        high=1e6 * high.alpha_s,
        bandwidth=_bandwidth(model, m),
        reduce=_rates(*(link.add_s_per_byte for link in (model.fit.link, high, low))),
        medium=_medium(shared),
        error=error,
        most=most,
        other_medium=_medium(not shared),
        other_error=link_fit.typical_errors(model.other.errors)[0],
    )
    if model.many == model.few:
        return text
    unseen, others = m[names.UNSEEN_ERROR], model.unseen_error(model.other)
    predicted = say(
        "The times of {many} ranks, which it has not seen, it predicts to {unseen:.0f} % in the"
        " median, the other to {others:.0f} %, {judged}.",
        many=model.many,
        unseen=unseen,
        others=others,
        judged=say("so the choice holds there")
        if unseen < others
        else say("so there the other would have been better"),
    )
    return f"{text} {predicted}"


def _medium(shared: bool) -> str:
    return say("all ranks shared one link") if shared else say("each rank had a link of its own")


def _bandwidth(model: Model, m: Mapping[str, Any]) -> str:
    low, high = model.interval()
    # the most seconds per byte are the fewest bytes per second
    return _rates(_s_per_byte(m), high.s_per_byte, low.s_per_byte)


def _s_per_byte(m: Mapping[str, Any]) -> float:
    """The inverse of the bandwidth; 0 where that has no bound."""
    bandwidth = m[names.BANDWIDTH]
    return 0.0 if isinstance(bandwidth, str) else 1e-9 / bandwidth


def _rates(*s_per_byte: float) -> str:
    """A rate with its interval; what costs nothing has no bound."""
    rate, low, high = (f"{1e-9 / s:.3g}" if s > 0 else say("unbounded") for s in s_per_byte)
    return say("{rate} GB/s ({low} to {high})", rate=rate, low=low, high=high)


def _buckets(model: Model, m: Mapping[str, Any], net: str) -> str:
    """What one bucket does for a net's gradients, by the notes' star and by the library."""
    effect = {
        "faster": say("pays"),
        "slower": say("costs"),
        "inconclusive": say("makes no sure difference"),
    }
    by_notes, library = (
        _one(model.results, names.of_ranks(net, model.few), allreduce_name(*way))
        for way in ((STAR, PER_TENSOR), (LIBRARY, ONE_BUCKET))
    )
    return say(
        "{net}'s gradients in the notes' star: one bucket {effect}. It is {ratio} as fast as"
        " tensor by tensor, where the model says {predicted:.2f}x. The library's sum of one bucket"
        " is {library} as fast as the notes' way.",
        net=TITLES[net],
        effect=effect[ratio_of(m, names.bucket_speedup(net)).verdict],
        ratio=ratio(m, names.bucket_speedup(net)),
        predicted=model.bucket_speedup(_one(model.results, names.TENSORS, net)),
        library=ratio_text(speedup(by_notes.values, library.values)),
    )


def _volume(model: Model) -> str:
    """Ring and library against the star, with the largest message and the most ranks."""
    results, demo = model.results, model.demos[model.many]
    star, ring, library = (results.series(demo, name)[-1] for name in (STAR, RING, LIBRARY))
    of_ring = speedup(star.values, ring.values)
    times = say(
        "With {mb:.3g} MB and {ranks} the ring is {verdict} the star: {ratio}; the library"
        " {library}.",
        mb=star.x / 1e6,
        ranks=_ranks(demo),
        verdict=verdict_text(of_ring),
        ratio=ratio_text(of_ring),
        library=ratio_text(speedup(star.values, library.values)),
    )
    sent = {
        name: _one(results, names.of_ranks(names.SENT, model.many), name).values[0]
        for name in (STAR, RING)
    }
    if model.fit.shared:
        volumes = say(
            "The star's rank 0 sends {star:.3g} MB, a rank of the ring {ring:.3g} MB, but all"
            " ranks together send the same, and here they share what carries it.",
            **sent,
        )
    else:
        volumes = say(
            "The star's rank 0 sends {star:.3g} MB, a rank of the ring {ring:.3g} MB, all at once.",
            **sent,
        )
    return f"{times} {volumes}"


def _exactness(results: Results) -> str:
    sums = [
        m for m in results.measurements if m.demo.startswith(names.EXACT) and m.values != (1.0,)
    ]
    if not sums:
        return say("Every sum was exact.")
    return say("Sums were wrong: {arms}.", arms="; ".join(f"{m.arm} ({m.demo})" for m in sums))


def _one(results: Results, demo: str, arm: str) -> Measurement:
    """The only measurement of an arm that every run has."""
    return results.series(demo, arm)[0]


def _beside_the_book(model: Model, m: Mapping[str, Any]) -> Table:
    """The book's example, 160 MB of gradients on 4 GPUs: recomputed, and over this link."""
    cost = _s_per_byte(m)
    here = 1 / cost if cost > 0 else np.inf
    ways = (
        (say("G7-G13: one GPU aggregates"), "60 ms", cost_model.one_gpu_aggregates_s),
        (say("G7-G13: the CPU aggregates"), "80 ms", cost_model.cpu_aggregates_s),
        (
            say("G7-G13: each of 4 GPUs aggregates a quarter"),
            "15 ms",
            cost_model.every_gpu_aggregates_s,
        ),
    )
    why = say("arithmetic: this link has {rate}, the book's 16", rate=_bandwidth(model, m))
    rows = []
    for what, printed, seconds in ways:
        book, own = (1e3 * seconds(BOOK_BYTES, rate, BOOK_GPUS) for rate in (BOOK_RATE, here))
        found = say("{own:.0f} ms (the book's, recomputed: {book:.0f} ms)", own=own, book=book)
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
    for n, demo in model.demos.items():
        for name in ALGORITHMS:
            largest = results.series(demo, name)[-1]
            rates = summarise(
                [cost_model.bus_bandwidth(largest.x, n, t / 1e3) / 1e9 for t in largest.values]
            )
            sent, messages = (
                results.one(names.of_ranks(what, n), name) for what in (names.SENT, names.MESSAGES)
            )
            rows.append(
                [
                    f"{name}, {_ranks(demo)}",
                    f"{rates.median:.2f} ({rates.iqr:.2f})",
                    f"{sent.values[0]:.4g}" if sent else "",
                    f"{messages.values[0]:.0f}" if messages else "",
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
            "Bus bandwidth as nccl-tests count it, 2 (n-1)/n bytes per byte of the message: it"
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
        latency = f"{one.latency_us:g} us"
        if one.latency_is_assumed:
            latency = say("{latency} (assumed)", latency=latency)
        rows.append(
            [
                f"{one.name} ({one.source})",
                f"{one.gb_per_s:g}",
                latency,
                *(f"{t:.3g}" for t in times),
            ]
        )
    return Table(
        [
            say("link"),
            "GB/s",
            say("latency"),
            say("star, per tensor, ms"),
            say("star, one bucket, ms"),
            say("ring, one bucket, ms"),
        ],
        rows,
        say(
            "Predicted for ResNet-18's 44.7 MB in 76 tensors on 8 devices with a link each; not"
            " measured here. Adding is taken to cost nothing."
        ),
    )


def _ranks(demo: str) -> str:
    """A demo's ranks, and the cores that they share where there are fewer, in words."""
    n, cores = names.ranks_and_cores(demo) or (0, 0)
    if cores:
        return say("{n} ranks sharing {cores} core(s)", n=n, cores=cores)
    return say("{n} ranks", n=n)


def _draw_messages(model: Model, path: Path) -> None:
    panels = {
        n: [curve_of(model.results.series(demo, name), name) for name in ALGORITHMS]
        for n, demo in model.demos.items()
    }
    every = [c for curves in panels.values() for c in curves]
    sizes = [size for c in every for size in (c.x[0] / 2, c.x[-1] * 2)]
    times = [time for c in every for time in (c.low.min() / 2, c.high.max() * 2)]
    with figures.figure(path, 2.2 + 4.4 * len(panels), 4.2) as fig:
        all_axes = fig.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axes, (n, curves) in zip(all_axes, panels.items(), strict=True):
            axes.set(xscale="log", yscale="log", xlabel="bytes of the message")
            axes.set(xlim=(min(sizes), max(sizes)), ylim=(min(times), max(times)))
            for i, c in enumerate(curves[: len(MODELLED)]):
                predicted = [1e3 * model.seconds(c.series, n, 1, x) for x in c.x]
                axes.plot(
                    c.x, predicted, color=figures.COLOURS[i], linewidth=0.8, linestyle=(0, (5, 3))
                )
            axes.set_title(f"{model.demos[n]}: {'fitted' if n == model.few else 'predicted'}")
            figures.draw_curves(axes, curves, labels=axes is all_axes[-1])
        all_axes[0].set_ylabel("ms, slowest rank")


def _draw_gradients(model: Model, nets: list[str], virtual: bool, path: Path) -> None:
    with figures.figure(path, 11, 4.2) as fig:
        for axes, net in zip(
            fig.subplots(1, len(nets), sharey=True, squeeze=False)[0], nets, strict=True
        ):
            _draw_net(axes, model.results, names.of_ranks(net, model.few), virtual)
            tensors = _one(model.results, names.TENSORS, net)
            count = f"{tensors.values[0]:.0f} tensors, {tensors.x / 1e6:.3g} MB"
            axes.set_title(f"{TITLES[net]}, {count} (ms)")


def _draw_net(axes: Axes, results: Results, demo: str, virtual: bool) -> None:
    arms = results.arms(demo)
    for i, arm in enumerate(arms):
        [found] = results.series(demo, arm)
        colour = figures.COLOURS[0 if arm.endswith(PER_TENSOR) else 1]
        figures.bar_with_samples(axes, i, found.values, colour, virtual)
    axes.set_yticks(range(len(arms)), arms)
    axes.set_ylim(len(arms) - 0.4, -0.6)
    axes.set_xlim(left=0)
    axes.grid(visible=False, axis="y")
