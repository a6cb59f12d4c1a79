"""The report's section on hardware (13.4)."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator

from lab.report import benchmarks, figures
from lab.report.language import say, translation
from lab.report.page import Figure, Section, Table, TryThis
from lab.results.measurements import Measurement, Results, curve_of
from lab.results.stats import speedup
from stages.bench_hardware.page.explorables import roofline

# ratios that compare across machines, where times do not
HEADLINES = {"vectorised_speedup": "one call over a Python loop"}
CACHE_LINE = 64  # bytes
CACHES = ((4, "L1"), (256, "L2"), (4096, "L3"))  # KiB of working sets that they hold


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
        answer=_answer(results, m),
        findings=[
            *_findings(results),
            *_stem(results),
            *benchmarks.trust(m),
            *benchmarks.skipped(results),
        ],
        figures=[_roofline(results, m), _memory(results), _products(results)],
        tables=[_networks(results, m), _latencies(results)],
        explorables=[roofline(results, *_roof(m))],
        try_this=TryThis(
            "bench_hardware.matrix_size",
            "32",
            say("What becomes of the peak, and of the roof, with products of 32 × 32?"),
            say(
                "Both sink, far below the networks' dots: 65,536 FLOP take less than a microsecond,"
                " about as long as the call itself, and leave a second thread nothing to do."
            ),
        ),
    )


def _roof(m: Mapping[str, Any]) -> tuple[float, float]:
    """Peak GFLOP/s in float32 and GB/s of the device that the networks ran on."""
    return m["peak_float32_gflop_per_s"], m["copy_gb_per_s"]


def _allowed(m: Mapping[str, Any], intensity: float) -> float:
    """The GFLOP/s that the roof allows at so many FLOP per byte."""
    peak, bandwidth = _roof(m)
    return min(peak, bandwidth * intensity)


def _rates(results: Results) -> dict[str, Measurement]:
    """The networks' rates; x: FLOP per byte."""
    found = {name: results.one("network", name) for name in results.variants("network")}
    return {name: rate for name, rate in found.items() if rate}


def _answer(results: Results, m: Mapping[str, Any]) -> str:
    peak, bandwidth = _roof(m)
    rates = _rates(results).values()
    shares = [100 * rate.summary.median / _allowed(m, rate.x) for rate in rates]
    return say(
        "Arithmetic limits {count} of {all} networks here, those over {ridge:.3g} FLOP per byte;"
        " they reach {low:.0f} to {high:.0f} % of what the roofline allows.",
        count=sum(rate.x > peak / bandwidth for rate in rates),
        all=len(rates),
        ridge=peak / bandwidth,
        low=min(shares),
        high=max(shares),
    )


def _findings(results: Results) -> list[str]:
    products = [results.series("matmul", variant)[0] for variant in results.variants("matmul")]
    slow, fast = products[0].summary.median, products[-1].summary.median
    sentences = [
        say(
            "A 256 × 256 product {best} runs at {times:,.0f} times the rate of {worst}, on one"
            " thread.",
            best=translation(products[-1].variant),
            worst=translation(products[0].variant),
            times=float(f"{fast / slow:.3g}"),
        )
    ]
    peaks = [peak for peak in results.series("peak", "float32") if peak.device_kind == "cpu"]
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


def _stem(results: Results) -> list[str]:
    """What the notes' small stem costs ResNet-18."""
    variants = "the notes' small stem", "the original stem"
    times = [m for variant in variants if (m := results.one("stem", variant))]
    flop = [m.values[0] for variant in variants if (m := results.one("counted GFLOP", variant))]
    if len(times) < len(variants) or len(flop) < len(variants):
        return []
    small, original = times
    return [
        say(
            "With the notes' small stem a pass of ResNet-18 over {images:.0f} images of 28 × 28"
            " computes {flop:.3g} times as much as with the original one, and takes {median:.3g}"
            " times as long ({low:.3g} to {high:.3g}).",
            images=small.x,
            flop=flop[0] / flop[1],
            **vars(speedup(small.values, original.values)),
        )
    ]


# --- tables ---


def _latencies(results: Results) -> Table:
    """The book's table of latencies beside this machine's."""

    def nanoseconds(found: Measurement | None) -> str:
        if not found:
            return say("skipped")
        return f"{found.summary.median:.3g} ns ({found.summary.iqr:.2g})"

    def between(low: float, high: float) -> str:
        return say("{low} to {high} ns", low=low, high=high)

    book = ("1.5 ns", "5 ns", between(16, 25))
    rows = [
        [
            say("{size} ({cache})", size=_bytes(1024 * kib), cache=cache),
            printed,
            nanoseconds(results.one("latency", "dependent loads", 1024 * kib)),
        ]
        for (kib, cache), printed in zip(CACHES, book, strict=True)
    ]
    if loads := results.series("latency", "dependent loads"):
        largest = say("{size} (main memory)", size=_bytes(loads[-1].x))
        rows.append([largest, between(46, 120), nanoseconds(loads[-1])])
    if launch := results.one("transfers", "launches"):
        rows.append([say("kernel launch"), "10 µs", f"{launch.summary.median:.3g} µs"])
    return Table(
        [say("a load from"), say("the book"), say("here (IQR over starts)")],
        rows,
        say(
            "Each load waits for the one before. The book's tables are of 2016 to 2020; servers"
            " share the third cache, and address translation adds to main memory's time."
        ),
    )


def _networks(results: Results, m: Mapping[str, Any]) -> Table:
    peak, bandwidth = _roof(m)
    rows = []
    for name, rate in _rates(results).items():
        gflop = results.one("counted GFLOP", name)
        share = rate.summary.median / _allowed(m, rate.x)
        rows.append(
            [
                translation(name),
                f"{gflop.values[0]:.3g}" if gflop else "–",
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
            say("FLOP per byte"),
            say("GFLOP/s (IQR over starts)"),
            say("of the roofline"),
            say("limited by"),
        ],
        rows,
        say(
            "Forward pass. Bytes count every operation's inputs and outputs, as eager runs move"
            " them without caches."
        ),
    )


# --- figures ---


def _roofline(results: Results, m: Mapping[str, Any]) -> Figure:
    return Figure(
        "roofline",
        say("Networks under the roofline of this machine."),
        say(
            "The line is the most this machine can do: memory bandwidth on the slope, peak rate on"
            " the roof, both measured. Dots are networks, medians over starts. FLOP and bytes are"
            " counted; caches, and convolutions that outrun a matrix product or skip counted"
            " padding, can lift a dot over the line."
        ),
        [partial(_draw_roofline, _rates(results), _roof(m))],
    )


def _memory(results: Results) -> Figure:
    return Figure(
        "memory",
        say("Latency of dependent loads against working set; cost of a number against stride."),
        say(
            "Each step up is a cache that no longer suffices; loads in order can be fetched ahead."
            " Numbers further apart use less of each cache line, until each costs a line. Bands:"
            " middle half of the starts."
        ),
        [partial(_draw_latency, results), partial(_draw_stride, results)],
    )


def _products(results: Results) -> Figure:
    ways, peaks = _ways(results), _peaks(results)
    height = 1.1 + 0.3 * max(len(ways), len(peaks))
    return Figure(
        "products",
        say("A matrix product in four ways; rate of products by dtype and threads."),
        say(
            "Dots are medians over starts. The four ways do the same arithmetic and differ in how"
            " much the machine is given at once."
        ),
        [
            partial(_draw_dots, ways, say("A product of 256 × 256 on one thread"), height),
            partial(_draw_dots, peaks, say("Large products"), height),
        ],
    )


def _draw_latency(results: Results, path: Path) -> None:
    loads = results.series("latency", "dependent loads")
    in_order = results.one("latency", "loads in order")
    with figures.figure(path, figures.WIDTH, 3.0) as fig:
        axes = fig.add_subplot()
        axes.set_title(say("A load that waits for the one before"), x=0)
        axes.set(xlabel=say("working set"), ylabel=say("ns per load"))
        if not loads:
            axes.text(0.5, 0.5, say("not measured here"), transform=axes.transAxes, ha="center")
            return
        _draw_band(axes, loads, figures.COLOURS[0], _bytes)
        random = say("in random order: {ns:.3g} ns", ns=loads[-1].summary.median)
        _name_point(axes, loads[-1], random, figures.COLOURS[0], 8)
        if in_order:
            axes.plot(in_order.x, in_order.summary.median, "X", color=figures.COLOURS[1], ms=8)
            ordered = say("in order: {ns:.3g} ns", ns=in_order.summary.median)
            _name_point(axes, in_order, ordered, figures.COLOURS[1], 10)
        _give_room(axes, [*loads, *([in_order] if in_order else [])])


def _draw_stride(results: Results, path: Path) -> None:
    sums = results.series("stride", "sum")
    with figures.figure(path, figures.WIDTH, 3.0) as fig:
        axes = fig.add_subplot()
        axes.set_title(say("A sum of equally many numbers"), x=0)
        axes.set(xlabel=say("bytes from one number to the next"), ylabel=say("ns per number"))
        _draw_band(axes, sums, figures.COLOURS[0], lambda count: f"{count:.0f}")
        _give_room(axes, sums)
        axes.axvline(CACHE_LINE, color=figures.FAINT, linestyle="--", linewidth=1)
        axes.annotate(
            say("a cache line"),
            (CACHE_LINE, axes.get_ylim()[1]),
            (-5, -12),
            textcoords="offset points",
            ha="right",
            color=figures.FAINT_TEXT,
        )


def _draw_band(
    axes: Axes, series: Sequence[Measurement], colour: str, name: Callable[[float], str]
) -> None:
    """Draw medians and their band on two logarithmic axes, with at most six names of x."""
    c = curve_of(series)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.plot(c.x, c.y, "o-", color=colour, markersize=4)
    axes.fill_between(c.x, c.low, c.high, color=colour, alpha=0.2, linewidth=0)
    shown = c.x[:: 1 + (len(c.x) - 1) // 6 if len(c.x) > 7 else 1]
    axes.set_xticks(list(shown), [name(x) for x in shown])
    axes.minorticks_off()


def _name_point(axes: Axes, point: Measurement, name: str, colour: str, above: float) -> None:
    axes.annotate(
        name,
        (point.x, point.summary.median),
        (4, above),
        textcoords="offset points",
        ha="right",
        color=figures.text_colour(colour),
    )


def _give_room(axes: Axes, shown: Sequence[Measurement]) -> None:
    """Room above what is shown for names, and plain ticks."""
    low, high = min(m.summary.q1 for m in shown), max(m.summary.q3 for m in shown)
    axes.set_ylim(low / 1.3, high * (high / low) ** 0.13)
    figures.plain_ticks(axes.yaxis)


def _bytes(count: float) -> str:
    if count >= 2**20:
        return say("{count:.0f} MiB", count=count / 2**20)
    return say("{count:.0f} KiB", count=count / 2**10)


def _ways(results: Results) -> dict[str, float]:
    """The rate of a product in each way."""
    found = {name: results.one("matmul", name) for name in results.variants("matmul")}
    return {translation(name): m.summary.median for name, m in found.items() if m}


def _peaks(results: Results) -> dict[str, float]:
    """The rate of large products by dtype and threads."""
    measured = [m for n in results.variants("peak") for m in results.series("peak", n)]
    return {_work(m): m.summary.median for m in measured}


def _work(m: Measurement) -> str:
    """The dtype and the threads of a product."""
    dtype = translation(m.variant)
    if m.threads == 0:
        return say("{dtype}, GPU", dtype=dtype)
    if m.threads == 1:
        return say("{dtype}, 1 thread", dtype=dtype)
    return say("{dtype}, {count} threads", dtype=dtype, count=m.threads)


def _draw_dots(found: Mapping[str, float], title: str, height: float, path: Path) -> None:
    """Draw a rate in each row as a dot with its number."""
    low, high = min(found.values()), max(found.values())
    with figures.figure(path, figures.WIDTH, height) as fig:
        axes = fig.add_subplot(xscale="log", xlim=(low / 1.5, high * (high / low) ** 0.25 * 1.2))
        axes.set_title(title, x=0)
        axes.set_xlabel("GFLOP/s")
        for row, rate in enumerate(found.values()):
            axes.plot(rate, row, "o", color=figures.COLOURS[0], markersize=7)
            axes.annotate(
                _three_digits(rate), (rate, row), (8, 0), textcoords="offset points", va="center"
            )
        axes.set_yticks(range(len(found)), list(found))
        axes.set_ylim(len(found) - 0.4, -0.6)
        axes.grid(visible=False, axis="y")
        figures.plain_ticks(axes.xaxis)
        if high > 200 * low:  # ticks at the powers of ten alone, or their numbers would touch
            axes.xaxis.set_major_locator(LogLocator())


def _three_digits(number: float) -> str:
    """A number of any size, without an exponent."""
    return f"{float(f'{number:.3g}'):,.0f}" if number >= 100 else f"{number:.3g}"


def _draw_roofline(rates: Mapping[str, Measurement], roof: tuple[float, float], path: Path) -> None:
    peak, bandwidth = roof
    ridge = peak / bandwidth
    low = min(ridge, *(m.x for m in rates.values())) / 10
    high = max(ridge, *(m.x for m in rates.values())) * 4
    bottom = min(bandwidth * low, *(m.summary.median for m in rates.values())) / 2.2
    top = max(peak, *(m.summary.median for m in rates.values())) * 2
    with figures.figure(path, figures.WIDTH, 3.4) as fig:
        axes = fig.add_subplot(xscale="log", yscale="log", xlim=(low, high), ylim=(bottom, top))
        axes.set_title(say("Forward passes under the roofline"), x=0)
        axes.set(xlabel=say("FLOP per byte (counted)"), ylabel="GFLOP/s")
        x = np.array([low, ridge, high])
        axes.plot(x, np.minimum(peak, bandwidth * x), color=figures.INK)
        _label_roof(axes, ridge, roof)
        _draw_networks(axes, rates)
        figures.plain_ticks(axes.xaxis)
        figures.plain_ticks(axes.yaxis)


def _label_roof(axes: Axes, ridge: float, roof: tuple[float, float]) -> None:
    """Name the roof and the slope by what they are, and both sides of where they meet."""
    peak, bandwidth = roof
    (low, _), (bottom, _) = axes.get_xlim(), axes.get_ylim()
    axes.plot([ridge, ridge], [bottom, peak], color=figures.FAINT, linestyle="--", linewidth=1)
    labels = (
        (say("peak: {rate} GFLOP/s", rate=_three_digits(peak)), (ridge, peak), (-6, 5), "right"),
        (
            say("memory: {rate} GB/s", rate=_three_digits(bandwidth)),
            (1.3 * low, 1.3 * low * bandwidth),
            (8, -8),
            "left",
        ),
        (say("memory limits"), (ridge, bottom), (-6, 5), "right"),
        (say("arithmetic limits"), (ridge, bottom), (6, 5), "left"),
    )
    for text, place, offset, side in labels:
        colour = figures.FAINT_TEXT if place[1] == bottom else figures.INK
        axes.annotate(text, place, offset, textcoords="offset points", ha=side, color=colour)


def _draw_networks(axes: Axes, rates: Mapping[str, Measurement]) -> None:
    """Draw the networks as dots, each with its name on its right."""
    to_axes = axes.transData + axes.transAxes.inverted()
    places = [to_axes.transform((m.x, m.summary.median)) for m in rates.values()]
    heights = figures.spread_labels([float(y) for _, y in places], 0.075, 1)
    for (name, m), (x, _), height in zip(rates.items(), places, heights, strict=True):
        axes.plot(m.x, m.summary.median, "o", color=figures.COLOURS[0], markersize=8)
        axes.text(
            x + 0.025,
            height,
            name.split(" (")[0],  # without its images' size
            color=figures.TEXT_COLOURS[0],
            transform=axes.transAxes,
            va="center",
        )
