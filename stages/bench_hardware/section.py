"""The report's section on hardware (13.4)."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from lab.report import benchmarks, figures
from lab.report.benchmarks import curve_of, ratio, ratio_text
from lab.report.language import say, translation
from lab.report.page import Figure, Section, Table, TryThis
from lab.results.measurements import Measurement, Results
from lab.results.stats import speedup
from stages.bench_hardware import names

# ratios that compare across machines, where times do not
HEADLINES = {names.VECTORISED: f"{names.ONE_CALL} over a {names.LOOP}"}


def section(folder: Path) -> Section:
    """The section of `folder` (reports/bench_hardware)."""
    results, m = benchmarks.read(folder)
    return Section(
        stage="bench_hardware",
        title=say("Hardware: what this machine can do"),
        book="13.4",
        question=say(
            "What limits a network on this machine: arithmetic, memory, or the trip to a device?"
        ),
        findings=[*_findings(results, m), benchmarks.trust(m), *benchmarks.skipped(results)],
        figures=[
            Figure(
                "memory",
                say(
                    "Latency of dependent loads against working set; cost of a number against"
                    " stride."
                ),
                say(
                    "Left: each step up is a cache that no longer suffices; the cross is the"
                    " largest working set in its order, which can be fetched ahead. Right: numbers"
                    " that lie further apart use less of every cache line, until each costs a line"
                    " of its own. Bands hold the middle half of the starts."
                ),
                partial(_draw_memory, results),
            ),
            Figure(
                "products",
                say("A matrix product in four ways; rate of products by dtype and threads."),
                say(
                    "The same arithmetic each time: what differs is how much is given to the"
                    " machine at once. One element at a time only 16 of the rows are computed. Bars"
                    " are medians over starts."
                ),
                partial(_draw_products, results),
            ),
            Figure(
                "roofline",
                say("Networks under the roofline of this machine."),
                say(
                    "FLOP and bytes are counted, the rate is measured. The roof is the measured"
                    " peak, the slope the measured memory bandwidth. A dot above the slope reuses"
                    " in caches what the count moves through memory; one above the roof does fewer"
                    " FLOP than are counted (Winograd's convolution)."
                ),
                partial(_draw_roofline, results, _roof(m)),
            ),
        ],
        tables=[_latencies(results), _networks(results, m)],
        try_this=TryThis(
            "bench_hardware.matrix_size",
            "256",
            say("see how much of the peak a small product reaches"),
        ),
    )


def _findings(results: Results, m: dict[str, Any]) -> list[str]:
    products = [results.series(names.MATMUL, arm)[0] for arm in results.arms(names.MATMUL)]
    slow, fast = products[0].summary.median, products[-1].summary.median
    sentences = [
        say(
            "A 256 x 256 product {worst} reaches {slow:.2g} GFLOP/s and {best} {fast:.3g}:"
            " {times:,.0f} times as much for the same arithmetic on one thread. Adding 10,000"
            " numbers in one call is {ratio} as fast as in a Python loop.",
            worst=translation(products[0].arm),
            slow=slow,
            best=translation(products[-1].arm),
            fast=fast,
            times=fast / slow,
            ratio=ratio(m, names.VECTORISED),
        ),
        say(
            "Summing a matrix by rows is {ratio} as fast as by columns, if the numbers of a row lie"
            " side by side.",
            ratio=ratio(m, names.ROWS_OVER_COLUMNS),
        ),
    ]
    passes, blocks = (results.one(names.REUSE, arm) for arm in (names.BY_PASSES, names.BY_BLOCKS))
    if passes and blocks:
        sentences.append(
            say(
                "Data larger than the caches are gone over 8 times {ratio} as fast block by block.",
                ratio=ratio_text(speedup(passes.values, blocks.values)),
            )
        )
    loads = results.series(names.LATENCY, names.DEPENDENT_LOADS)
    in_order = results.one(names.LATENCY, names.LOADS_IN_ORDER)
    if loads and in_order:
        smallest, largest = loads[0].summary.median, loads[-1].summary.median
        sentences.append(
            say(
                "A load that must wait for the one before takes {smallest:.2g} ns in the smallest"
                " working set and {largest:.0f} ns in the largest, {times:.0f} times as long; if"
                " the lines come in their order, {in_order:.2g} ns.",
                smallest=smallest,
                largest=largest,
                times=largest / smallest,
                in_order=in_order.summary.median,
            )
        )
    peaks = [
        peak for peak in results.series(names.PEAK, names.FLOAT32) if peak.device_kind == "cpu"
    ]
    if len(peaks) > 1:
        first, last = peaks[0].summary.median, peaks[-1].summary.median
        sentences.append(
            say(
                "Products in float32 scale from {first:.0f} GFLOP/s on {few} thread to {last:.0f}"
                " on {many}: {times:.2f} times.",
                first=first,
                few=peaks[0].threads,
                last=last,
                many=peaks[-1].threads,
                times=last / first,
            )
        )
    return sentences


def _latencies(results: Results) -> Table:
    def nanoseconds(kib: float) -> str:
        found = results.one(names.LATENCY, names.DEPENDENT_LOADS, 1024 * kib)
        return (
            f"{found.summary.median:.3g} ns ({found.summary.iqr:.2g})" if found else say("skipped")
        )

    def between(low: int, high: int) -> str:
        return say("{low} to {high} ns", low=low, high=high)

    largest = results.series(names.LATENCY, names.DEPENDENT_LOADS)
    launch = results.one(names.TRIP, names.LAUNCH)
    return benchmarks.beside_the_book(
        [
            [
                say("load, 4 KiB working set (L1)"),
                "1.5 ns",
                nanoseconds(4),
                say("the book's tables are of 2016 to 2020"),
            ],
            [say("load, 256 KiB (L2)"), "5 ns", nanoseconds(256), say("the same")],
            [
                say("load, 4 MiB (L3)"),
                between(16, 25),
                nanoseconds(4096),
                say("the same; servers share this cache"),
            ],
            [
                say("load, largest working set"),
                between(46, 120),
                f"{largest[-1].summary.median:.3g} ns" if largest else say("skipped"),
                say("address translation adds to DRAM"),
            ],
            [
                say("kernel launch"),
                "10 µs",
                f"{launch.summary.median:.3g} µs" if launch else say("skipped: needs a CUDA GPU"),
                say("driver and GPU"),
            ],
        ]
    )


def _networks(results: Results, m: dict[str, Any]) -> Table:
    peak, bandwidth = _roof(m)
    rows = []
    for name in results.arms(names.NETWORK):
        rate, gflop, gb = (
            results.one(demo, name)
            for demo in (names.NETWORK, names.COUNTED_GFLOP, names.COUNTED_GB)
        )
        if rate and gflop and gb:
            share = rate.summary.median / min(peak, bandwidth * rate.x)
            rows.append(
                [
                    name,
                    f"{gflop.values[0]:.3g}",
                    f"{gb.values[0]:.3g}",
                    f"{rate.x:.3g}",
                    f"{rate.summary.median:.3g} ({rate.summary.iqr:.2g})",
                    f"{100 * share:.0f} %",
                    say("memory") if bandwidth * rate.x < peak else say("arithmetic"),
                ]
            )
    return Table(
        [
            say("network"),
            say("GFLOP per batch"),
            say("GB per batch"),
            say("FLOP per byte"),
            say("GFLOP/s (IQR)"),
            say("of what the roof allows"),
            say("limited by"),
        ],
        rows,
        say(
            "Forward pass, medians over starts. Bytes count every operation's inputs and outputs,"
            " as eager runs move them without caches."
        ),
    )


def _roof(m: dict[str, Any]) -> tuple[float, float]:
    """Peak GFLOP/s in float32 and GB/s of the device that the networks ran on."""
    return m[names.PEAK_RATE], m[names.COPY_RATE]


def _draw_memory(results: Results, path: Path) -> None:
    with figures.figure(path, 11, 3.6) as fig:
        latency, stride = fig.subplots(1, 2)
        loads = results.series(names.LATENCY, names.DEPENDENT_LOADS)
        latency.set(
            title="Time of a dependent load (ns)", xlabel="working set", xscale="log", yscale="log"
        )
        if loads:
            c = curve_of(loads, "")
            latency.set_xscale("log", base=2)
            latency.set_xticks(list(c.x[::2]), [_bytes(x) for x in c.x[::2]])
            latency.plot(c.x, c.y, "o-", color=figures.COLOURS[0], markersize=4)
            latency.fill_between(
                c.x, c.low, c.high, color=figures.COLOURS[0], alpha=0.2, linewidth=0
            )
            figures.plain_ticks(latency.yaxis)
            in_order = results.one(names.LATENCY, names.LOADS_IN_ORDER)
            if in_order:
                latency.plot(in_order.x, in_order.summary.median, "x", color=figures.COLOURS[0])
        else:
            latency.text(
                0.5, 0.5, "skipped on this machine", transform=latency.transAxes, ha="center"
            )
        c = curve_of(results.series(names.STRIDE, names.SUM), "")
        stride.set(
            title="Time per number summed (ns)",
            xlabel="bytes from one number to the next",
            yscale="log",
        )
        stride.set_xscale("log", base=2)
        stride.set_xticks(list(c.x), [f"{x:.0f}" for x in c.x])
        stride.plot(c.x, c.y, "o-", color=figures.COLOURS[1], markersize=4)
        stride.axvline(64, color=figures.FAINT, linestyle="--", linewidth=1)
        stride.annotate(
            "a cache line",
            (64, c.y.max()),
            (4, -4),
            textcoords="offset points",
            color=figures.FAINT,
        )
        figures.plain_ticks(stride.yaxis)


def _bytes(count: float) -> str:
    return f"{count / 2**20:.0f} MiB" if count >= 2**20 else f"{count / 1024:.0f} KiB"


def _draw_products(results: Results, path: Path) -> None:
    with figures.figure(path, 11, 3.4) as fig:
        products, peaks = fig.subplots(1, 2)
        _bars(
            products,
            [m for n in results.arms(names.MATMUL) if (m := results.one(names.MATMUL, n))],
            "256 x 256, 1 thread (GFLOP/s)",
        )
        measured = [m for n in results.arms(names.PEAK) for m in results.series(names.PEAK, n)]
        _bars(peaks, measured, "Large products (GFLOP/s)")


def _bars(axes: Axes, measured: list[Measurement], title: str) -> None:
    several = len({m.threads for m in measured}) > 1
    names = [
        f"{m.arm}, {m.threads} thread{'s' * (m.threads > 1)}" if several else m.arm
        for m in measured
    ]
    values = [m.summary.median for m in measured]
    figures.bars(axes, names, values)
    axes.set(title=title, xscale="log", xlim=(min(values) / 2, max(values) * 4))


def _draw_roofline(results: Results, roof: tuple[float, float], path: Path) -> None:
    peak, bandwidth = roof
    dots = [
        (name, m) for name in results.arms(names.NETWORK) if (m := results.one(names.NETWORK, name))
    ]
    low, high = min(m.x for _, m in dots) / 3, max(max(m.x for _, m in dots), peak / bandwidth) * 3
    with figures.figure(path, 9, 4.2) as fig:
        axes = fig.add_subplot(
            xlabel="FLOP per byte (counted)", xscale="log", yscale="log", xlim=(low, high)
        )
        axes.set_title("Forward pass, GFLOP/s")
        x = np.geomspace(low, high, 200)
        axes.plot(x, np.minimum(peak, bandwidth * x), color=figures.INK)
        axes.annotate(
            f"peak {peak:,.0f} GFLOP/s",
            (high, peak),
            (-4, 5),
            textcoords="offset points",
            ha="right",
        )
        axes.annotate(
            f"memory {bandwidth:,.0f} GB/s",
            (low * 1.1, bandwidth * low * 1.1),
            (8, -14),
            textcoords="offset points",
        )
        rightmost = max(m.x for _, m in dots)
        for i, (name, m) in enumerate(dots):
            axes.plot(m.x, m.summary.median, "o", color=figures.COLOURS[i], markersize=9)
            offset, side = ((10, 0), "left") if m.x == rightmost else ((-10, 0), "right")
            axes.annotate(
                name,
                (m.x, m.summary.median),
                offset,
                textcoords="offset points",
                ha=side,
                va="center",
                color=figures.COLOURS[i],
            )
        bottom = min(min(m.summary.median for _, m in dots), bandwidth * low)
        axes.set_ylim(bottom / 3, peak * 3)
        figures.plain_ticks(axes.xaxis)
        figures.plain_ticks(axes.yaxis)
