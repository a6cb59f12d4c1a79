"""The report's section on all-reduce between processes (13.5, 13.7)."""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from lab.parallel import cost_model
from lab.parallel.cost_model import INTERCONNECTS, Link, allreduce_s
from lab.report import benchmarks, figures
from lab.report.benchmarks import beside_the_book, curve_of, ratio, verdict
from lab.report.language import say
from lab.report.page import Figure, Section, Table, TryThis
from lab.results.curves import key
from lab.results.measurements import Results
from lab.results.stats import Ratio

TITLES = {"lenet": "LeNet", "resnet18": "ResNet-18"}
ALGORITHMS = (
    "star",
    "ring",
    "tree",
    "halving-doubling",
    "library",
)  # as lab.parallel.collectives, which needs torch
MODELLED = ALGORITHMS[:-1]
SHARED = "one shared link"  # as stages/bench_collectives
WAYS = ("per tensor", "one bucket")
BOOK_BYTES, BOOK_RATE, BOOK_GPUS = 160e6, 16e9, 4
RESNET_TENSORS, RESNET_BYTES = 76, 44_703_272


def section(folder: Path) -> Section:
    """Return the section of `folder` (reports/bench_collectives)."""
    results, m = benchmarks.read(folder)
    return Section(
        stage="bench_collectives",
        title=say("Summing gradients between processes"),
        book="13.5, 13.7",
        question=say(
            "What does summing gradients over processes cost, and does a model foretell it?"
        ),
        findings=[*_findings(results, m), benchmarks.trust(m), *benchmarks.skipped(results)],
        figures=[
            Figure(
                "allreduce_times",
                say(
                    "Time of an all-reduce against the size of the message, for each algorithm and"
                    " number of"
                    " ranks."
                ),
                say(
                    "Lines are medians of the slowest rank, bands the middle half. The dashed"
                    " lines are the"
                    " model's: fitted to {n} ranks, and foretold for more.",
                    n=m["fewest_ranks"],
                ),
                partial(_draw_messages, results, m),
            ),
            Figure(
                "allreduce_gradients",
                say(
                    "Time to sum the gradients of LeNet and ResNet-18, tensor by tensor and in one"
                    " bucket."
                ),
                say(
                    "Dots are rounds, bars medians. In one process the replicas share memory and"
                    " send no messages;"
                    " it was timed before the ranks were started."
                ),
                partial(_draw_gradients, results, m),
            ),
        ],
        tables=[_beside_the_book(m), _bandwidths(results, m), _elsewhere()],
        try_this=TryThis(
            "bench_collectives.world_sizes",
            "[2, 3, 5]",
            say("see what ranks that are no power of two cost"),
        ),
    )


def _findings(results: Results, m: Mapping[str, Any]) -> list[str]:
    return [
        _model(m),
        *(_buckets(m, net) for net in TITLES if f"{net}_bucket_speedup" in m),
        _volume(results, m),
    ]


def _model(m: Mapping[str, Any]) -> str:
    """Return what link the times tell of, and how well it foretells those it has not seen."""
    few, many = m["fewest_ranks"], m["most_ranks"]
    shared = m["model"] == SHARED
    name, other = key(m["model"]), key("own links" if shared else SHARED)
    text = say(
        "From {few} ranks the times tell of {latency:.0f} us a message ({low:.0f} to {high:.0f}),"
        " {bandwidth},"
        " and adding at {reduce}. The model fits better as if {medium} (off by {error:.0f} % in"
        " the median,"
        " {most:.0f} % at most) than as if {other_medium} ({other_error:.0f} %).",
        few=few,
        latency=m["latency_us"],
        low=m["latency_us_low"],
        high=m["latency_us_high"],
        bandwidth=_rate(m, "bandwidth"),
        reduce=_rate(m, "reduce"),
        medium=_medium(shared),
        error=m[f"{name}_fit_error_percent"],
        most=m[f"{name}_fit_error_percent_max"],
        other_medium=_medium(not shared),
        other_error=m[f"{other}_fit_error_percent"],
    )
    if many == few:
        return text
    unseen, others = (m[f"{which}_{many}_ranks_error_percent"] for which in (name, other))
    foretold = say(
        "The times of {many} ranks, which it has not seen, it foretells to {unseen:.0f} % in the"
        " median, the"
        " other to {others:.0f} %, {judged}.",
        many=many,
        unseen=unseen,
        others=others,
        judged=say("so the choice holds there")
        if unseen < others
        else say("so there the other would have been better"),
    )
    return f"{text} {foretold}"


def _medium(shared: bool) -> str:
    return say("all ranks shared one link") if shared else say("each rank had a link of its own")


def _rate(m: Mapping[str, Any], name: str) -> str:
    found = (m[f"{name}_gb_per_s{end}"] for end in ("", "_low", "_high"))
    rate, low, high = (
        say("unbounded") if isinstance(value, str) else f"{value:.3g}" for value in found
    )
    return say("{rate} GB/s ({low} to {high})", rate=rate, low=low, high=high)


def _buckets(m: Mapping[str, Any], net: str) -> str:
    """Return what one bucket does for a net's gradients in the notes' way to sum, and in the
    library's.
    """
    name = f"{net}_bucket_speedup"
    effect = {
        "faster": say("pays"),
        "slower": say("costs"),
        "inconclusive": say("makes no sure difference"),
    }
    return say(
        "{net}'s gradients in the notes' star: one bucket {effect}. It is {ratio} as fast as"
        " tensor by tensor,"
        " where the model says {predicted:.2f}x; with the library's all-reduce {library}. In one"
        " process, without"
        " messages, the notes' sum takes {in_one_process:.3g} ms against the star's {star:.3g} ms.",
        net=TITLES[net],
        effect=effect[Ratio(m[name], m[f"{name}_low"], m[f"{name}_high"]).verdict],
        ratio=ratio(m, name),
        predicted=m[f"{name}_predicted"],
        library=ratio(m, f"{net}_library_bucket_speedup"),
        in_one_process=m[f"{net}_in_one_process_ms"],
        star=m[f"{net}_star_per_tensor_ms"],
    )


def _volume(results: Results, m: Mapping[str, Any]) -> str:
    """Return what ring and library do against the star with the largest message and the most
    ranks.
    """
    many = m["most_ranks"]
    demo = _demos(results)[many]
    times = say(
        "With {mb:.3g} MB and {ranks} the ring is {verdict} the star: {ratio}; the library"
        " {library}.",
        mb=max(s.x for s in results.series(demo, "star")) / 1e6,
        ranks=_ranks(demo),
        verdict=verdict(m, "ring_over_star_speedup"),
        ratio=ratio(m, "ring_over_star_speedup"),
        library=ratio(m, "library_over_star_speedup"),
    )
    sent = {name: m[f"sent_{name}_{many}_ranks_mb"] for name in ("star", "ring")}
    if m["model"] == SHARED:
        volumes = say(
            "The star's rank 0 sends {star:.3g} MB, a rank of the ring {ring:.3g} MB, but all"
            " ranks together send"
            " the same, and here they share what carries it.",
            **sent,
        )
    else:
        volumes = say(
            "The star's rank 0 sends {star:.3g} MB, a rank of the ring {ring:.3g} MB, all at once.",
            **sent,
        )
    return f"{times} {volumes}"


def _beside_the_book(m: Mapping[str, Any]) -> Table:
    """Return the book's example, 160 MB of gradients on 4 GPUs, recomputed, and over this machine's
    link.
    """
    here = 1e9 * m["bandwidth_gb_per_s"] if not isinstance(m["bandwidth_gb_per_s"], str) else np.inf
    ways = (
        (say("G7-G13: one GPU aggregates"), "60 ms", cost_model.one_gpu_aggregates_s),
        (say("G7-G13: the CPU aggregates"), "80 ms", cost_model.cpu_aggregates_s),
        (
            say("G7-G13: each of 4 GPUs aggregates a quarter"),
            "15 ms",
            cost_model.every_gpu_aggregates_s,
        ),
    )
    why = say("arithmetic: this link has {rate}, the book's 16", rate=_rate(m, "bandwidth"))
    rows = []
    for what, printed, seconds in ways:
        book, own = (1e3 * seconds(BOOK_BYTES, rate, BOOK_GPUS) for rate in (BOOK_RATE, here))
        found = say("{own:.0f} ms (the book's, recomputed: {book:.0f} ms)", own=own, book=book)
        rows.append([what, printed, found, why])
    return replace(
        beside_the_book(rows),
        note=say(
            "160 MB of gradients on 4 devices, reckoned with bandwidth alone: not measured. The"
            " last row"
            " assumes links that all send at once, which ranks of one host do not have."
        ),
    )


def _bandwidths(results: Results, m: Mapping[str, Any]) -> Table:
    """Return each algorithm's bus bandwidth with the largest message, and what it sends."""
    rows = []
    for n, demo in _demos(results).items():
        for name in ALGORITHMS:
            rate = f"bus_{key(name)}_{n}_ranks_gb_per_s"
            sent = f"sent_{key(name)}_{n}_ranks_mb"
            rows.append(
                [
                    f"{name}, {_ranks(demo)}",
                    f"{m[rate]:.2f} ({m[f'{rate}_iqr']:.2f})",
                    *(
                        [f"{m[sent]:.4g}", f"{m[f'messages_{key(name)}_{n}_ranks']:.0f}"]
                        if sent in m
                        else ["", ""]
                    ),
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
            " does not grow with"
            " the ranks. What the library sends is not seen."
        ),
    )


def _elsewhere() -> Table:
    """Return what the model says of ResNet-18's gradient over published links: nothing of it is
    measured here.
    """
    rows = []
    for one in INTERCONNECTS:
        times = [
            1e3 * allreduce_s(algorithm, 8, tensors, RESNET_BYTES, one.link)
            for algorithm, tensors in (("star", RESNET_TENSORS), ("star", 1), ("ring", 1))
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
            "Foretold for ResNet-18's 44.7 MB in 76 tensors on 8 devices with a link each; not"
            " measured here."
            " Adding is taken to cost nothing."
        ),
    )


def _demos(results: Results) -> dict[int, str]:
    """Return the demos of single messages by their number of ranks."""
    names = {m.demo for m in results.measurements if m.values and re.match(r"\d+ ranks", m.demo)}
    return dict(sorted((int(name.split()[0]), name) for name in names))


def _ranks(demo: str) -> str:
    """Return a demo's ranks, and the cores that they share where there are fewer, in words."""
    n, *cores = re.findall(r"\d+", demo)
    return (
        say("{n} ranks sharing {cores} core(s)", n=n, cores=cores[0])
        if cores
        else say("{n} ranks", n=n)
    )


def _draw_messages(results: Results, m: Mapping[str, Any], path: Path) -> None:
    demos = _demos(results)
    panels = {
        n: [curve_of(results.series(demo, name), name) for name in ALGORITHMS]
        for n, demo in demos.items()
    }
    every = [c for curves in panels.values() for c in curves]
    sizes = [size for c in every for size in (c.x[0] / 2, c.x[-1] * 2)]
    times = [time for c in every for time in (c.low.min() / 2, c.high.max() * 2)]
    with figures.figure(path, 2.2 + 4.4 * len(demos), 4.2) as fig:
        all_axes = fig.subplots(1, len(demos), sharey=True, squeeze=False)[0]
        for axes, (n, curves) in zip(all_axes, panels.items(), strict=True):
            axes.set(xscale="log", yscale="log", xlabel="bytes of the message")
            axes.set(xlim=(min(sizes), max(sizes)), ylim=(min(times), max(times)))
            for i, c in enumerate(curves[: len(MODELLED)]):
                foretold = [
                    1e3 * allreduce_s(c.series, n, 1, x, _link(m), m["model"] == SHARED)
                    for x in c.x
                ]
                axes.plot(
                    c.x, foretold, color=figures.COLOURS[i], linewidth=0.8, linestyle=(0, (5, 3))
                )
            axes.set_title(f"{demos[n]}: {'fitted' if n == m['fewest_ranks'] else 'foretold'}")
            figures.draw_curves(axes, curves, labels=axes is all_axes[-1])
        all_axes[0].set_ylabel("ms, slowest rank")


def _link(m: Mapping[str, Any]) -> Link:
    def s_per_byte(name: str) -> float:
        value = m[f"{name}_gb_per_s"]
        return 0.0 if isinstance(value, str) else 1e-9 / value

    return Link(1e-6 * m["latency_us"], s_per_byte("bandwidth"), s_per_byte("reduce"))


def _draw_gradients(results: Results, m: Mapping[str, Any], path: Path) -> None:
    few = m["fewest_ranks"]
    nets = [net for net in TITLES if f"{net}_bucket_speedup" in m]
    with figures.figure(path, 11, 4.2) as fig:
        for axes, net in zip(
            fig.subplots(1, len(nets), sharey=True, squeeze=False)[0], nets, strict=True
        ):
            _draw_net(axes, results, f"{net}, {few} ranks", m["device_kind"] == "cpu-virtual")
            tensors = results.one("tensors", net)
            count = (
                f", {tensors.values[0]:.0f} tensors, {tensors.x / 1e6:.3g} MB" if tensors else ""
            )
            axes.set_title(f"{TITLES[net]}{count} (ms)")


def _draw_net(axes: Axes, results: Results, demo: str, virtual: bool) -> None:
    arms = [*(f"{name}, {way}" for name in ALGORITHMS for way in WAYS), "in one process"]
    for i, arm in enumerate(arms):
        if found := results.one(demo, arm):
            colour = figures.COLOURS[2 if i == len(arms) - 1 else i % 2]
            figures.bar_with_samples(axes, i, found.values, colour, virtual)
    axes.set_yticks(range(len(arms)), arms)
    axes.set_ylim(len(arms) - 0.4, -0.6)
    axes.set_xlim(left=0)
    axes.grid(visible=False, axis="y")
