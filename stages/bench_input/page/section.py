"""The report's section on what feeding a network costs (13.5)."""

from functools import partial
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator

from lab.data.datasets import FASHION_COUNTS
from lab.report import benchmarks, figures
from lab.report.benchmarks import TITLES, ratio_of
from lab.report.language import say, translation
from lab.report.page import Figure, Section, Table, TryThis
from lab.results.measurements import Measurement, Results
from lab.results.stats import speedup, summarise
from stages.bench_input.measure.names import (
    BOOK,
    FEEDS,
    NO_WORKERS,
    PARTS,
    PERSISTENT,
    RESIDENT,
    WHOLE,
)

# ratios that compare across machines, where times do not
HEADLINES = {"resident_over_book": f"{RESIDENT} over {BOOK}"}

EPOCH_IMAGES = FASHION_COUNTS["train"]


def ways() -> dict[str, str]:
    """What feeds a network, as the page calls it."""
    return {
        BOOK: say("the book's loader"),
        PERSISTENT: say("workers that stay"),
        NO_WORKERS: say("no workers"),
        RESIDENT: say("kept in memory"),
    }


def section(folder: Path) -> Section:
    """The section of `folder` (reports/bench_input)."""
    results, m = benchmarks.read(folder)
    virtual = m["device_kind"] == "cpu-virtual"
    return Section(
        stage="bench_input",
        title=say("Input, and where a step's time goes"),
        book="13.5",
        question=say("How fast do images arrive, and where does the time of a training step go?"),
        answer=_answer(m),
        findings=[*_findings(results, m), *benchmarks.trust(m), *benchmarks.skipped(results)],
        figures=[
            Figure(
                "input_rates",
                say(
                    "How long four ways take to feed an epoch's images, and LeNet's step with"
                    " three of them."
                ),
                say(
                    "Bars are medians. One picture is of feeding alone, with nothing computed:"
                    " dots are starts of the process; where a pass has fewer images (table), the"
                    " others are taken to come at its rate. In the other nothing overlaps but the"
                    " workers, which take cores from the network: with them forward and backward"
                    " get longer."
                ),
                [
                    partial(_draw_feeds, results, virtual),
                    partial(_draw_steps, results, "lenet", virtual),
                ],
            ),
            Figure(
                "step_parts",
                say(
                    "Parts of a training step of LeNet and of ResNet-18 with images kept in memory."
                ),
                say(
                    "Dots are medians, lines the middle half of the starts; the scale is"
                    " logarithmic."
                ),
                [partial(_draw_parts, results, net, virtual) for net in FEEDS],
            ),
        ],
        tables=[_rates(results), _parts(results)],
        try_this=TryThis(
            "bench_input.batch_size",
            "64",
            say("Which parts of LeNet's step shrink to a quarter with a quarter of the images?"),
            say(
                "Loading, forward and backward, nearly: they are work for each image. The"
                " all-reduce and the update are work for each parameter and stay, so they weigh"
                " more."
            ),
        ),
    )


def _answer(m: dict[str, Any]) -> str:
    found = ratio_of(m, "resident_over_book")
    return say(
        "Images kept in memory arrive {median} times as fast as through the book's loader ({low}"
        " to {high}): an epoch in {resident:.2g} s, not {book:.2g} s.",
        median=_number(found.median),
        low=_number(found.low),
        high=_number(found.high),
        resident=m["resident_bytes_epoch_s"],
        book=m["the_books_loader_epoch_s"],
    )


def _number(value: float) -> str:
    """A number with three digits, or with all that stand before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _step(results: Results, feed: str, net: str, part: str) -> Measurement:
    """A part of a network's step, or all of it, in ms; x: images."""
    [found] = results.series("step", feed, net=net, part=part)
    return found


def _step_ms(results: Results, feed: str, net: str, part: str) -> float:
    return _step(results, feed, net, part).summary.median


def _findings(results: Results, m: dict[str, Any]) -> list[str]:
    sentences = [
        say(
            "The book's loader spends {first:.0f} ms of each epoch before its first batch.",
            first=m["the_books_loader_first_batch_ms"],
        )
    ]
    for net in FEEDS:
        whole = _step_ms(results, RESIDENT, net, WHOLE)
        percent = {part: 100 * _step_ms(results, RESIDENT, net, part) / whole for part in PARTS}
        largest = max(percent, key=lambda part: percent[part])
        sentences.append(
            say(
                "With images in memory a step of {net} takes {whole} ms: {most:.0f} %"
                " {largest}, {all_reduce:.1f} % all-reduce, {update:.1f} % update.",
                net=TITLES[net],
                whole=_number(whole),
                largest=translation(largest),
                most=percent[largest],
                all_reduce=percent["all-reduce"],
                update=percent["update"],
            )
        )
    return [*sentences, *_feeding_lenet(results), _preparation(results), *_python(results)]


def _feeding_lenet(results: Results) -> list[str]:
    book, resident = (_step(results, feed, "lenet", WHOLE) for feed in (BOOK, RESIDENT))
    return [
        say(
            "With the book's four workers LeNet's step takes {median:.3g} times as long as with"
            " images in memory ({low:.3g} to {high:.3g}).",
            **vars(speedup(book.values, resident.values)),
        ),
        say(
            "Only {load:.1f} ms of that is waiting for the workers; the rest is the cores that"
            " they take.",
            load=_step_ms(results, BOOK, "lenet", "load"),
        ),
    ]


def _preparation(results: Results) -> str:
    [read], [preprocess] = (
        results.series("preparation", variant) for variant in ("read", "preprocess")
    )
    return say(
        "Reading the bytes of {n:.0f} images takes {read:.2g} ms, preprocessing them"
        " {preprocess:.2g} ms.",
        n=read.x,
        read=read.summary.median,
        preprocess=preprocess.summary.median,
    )


def _python(results: Results) -> list[str]:
    [calls] = results.series("python", "its calls alone")
    return [
        say(
            "Of the notes' LeNet step with {n:.0f} images, Python and the framework's calls take"
            " {ms:.2g} ms: {percent:.3g} % ({low:.3g} to {high:.3g}).",
            n=step.x,
            ms=calls.summary.median,
            percent=100 * share.median,
            low=100 * share.low,
            high=100 * share.high,
        )
        for step in results.series("python", "step")
        for share in [speedup(calls.values, step.values)]
    ]


def _rates(results: Results) -> Table:
    rows = []
    for name in results.variants("images"):
        [rate], [first] = (results.series(each, name) for each in ("images", "first_batch"))
        epoch = summarise(_epochs(results, name))
        rows.append(
            [
                ways()[name],
                f"{rate.summary.median:,.0f} ({rate.summary.iqr:,.0f})",
                f"{rate.x:,.0f}",
                f"{first.summary.median:.1f}",
                f"{epoch.median:.3f} ({epoch.iqr:.3f})",
            ]
        )
    return Table(
        [
            say("fed by"),
            say("images/s after the first batch (IQR)"),
            say("images of a pass"),
            say("ms until the first batch"),
            say("s per epoch of 60,000 (IQR)"),
        ],
        rows,
        say(
            "Medians over starts. The book's 3.0 s per epoch of LeNet on a GPU are 20,000 images"
            " per second: its loader's rate, not its GPU's."
        ),
    )


def _parts(results: Results) -> Table:
    """The parts of each step, a column for each net and what feeds it."""
    steps = [(net, feed) for net, feeds in FEEDS.items() for feed in feeds]

    def cell(net: str, feed: str, part: str) -> str:
        s = _step(results, feed, net, part).summary
        return f"{s.median:.2f} ({s.iqr:.2f})"

    return Table(
        [
            say("ms of a step (IQR)"),
            *(
                say("{net}, {feed}", net=TITLES[net], feed=ways()[feed])
                if len(FEEDS[net]) > 1
                else TITLES[net]
                for net, feed in steps
            ),
        ],
        [
            [translation(part), *(cell(net, feed, part) for net, feed in steps)]
            for part in (*PARTS, WHOLE)
        ],
        say(
            "Medians over starts, every device waited for; {net} with images in memory. The whole"
            " step is timed of itself.",
            net=TITLES["resnet18"],
        ),
    )


def _title(results: Results, net: str) -> str:
    images = _step(results, RESIDENT, net, WHOLE).x
    return say("A step of {net}, {n:.0f} images", net=TITLES[net], n=images)


def _name_feeds(axes: Axes, feeds: list[str]) -> None:
    """Name the rows of a picture by what feeds, the first on top."""
    axes.set_yticks(range(len(feeds)), [ways()[feed] for feed in feeds])
    axes.set_ylim(len(feeds) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")


def _epochs(results: Results, feed: str) -> tuple[float, ...]:
    """Seconds of an epoch by a feed, for each start."""
    if epoch := results.one("epoch", feed):
        return epoch.values
    [first], [rate] = (results.series(experiment, feed) for experiment in ("first_batch", "images"))
    return tuple(
        ms / 1e3 + EPOCH_IMAGES / each for ms, each in zip(first.values, rate.values, strict=True)
    )


def _draw_feeds(results: Results, virtual: bool, path: Path) -> None:
    found = {feed: _epochs(results, feed) for feed in results.variants("images")}
    with figures.figure(path, figures.WIDTH, 0.9 + 0.42 * len(found)) as fig:
        axes = fig.add_subplot(title=say("Feeding {n:,.0f} images", n=EPOCH_IMAGES))
        for i, seconds in enumerate(found.values()):
            figures.bar_with_samples(axes, i, seconds, figures.COLOURS[0], virtual)
            axes.annotate(
                f"{summarise(seconds).median:.2g}",
                (max(seconds), i),
                (6, 0),
                textcoords="offset points",
                va="center",
            )
        _name_feeds(axes, list(found))
        axes.set_xlim(0, 1.12 * max(map(max, found.values())))
        axes.set_xlabel(say("seconds of an epoch"))


def _draw_steps(results: Results, net: str, virtual: bool, path: Path) -> None:
    """Draw a bar for each feed, of the parts of a step in their order."""
    feeds = list(FEEDS[net])
    stack = {
        say("load"): ("load",),
        say("forward"): ("forward",),
        say("backward"): ("backward",),
        say("transfer, all-reduce, update"): ("transfer", "all-reduce", "update"),
    }
    with figures.figure(path, figures.WIDTH, 1.4 + 0.42 * len(feeds)) as fig:
        title, xlabel = _title(results, net), say("milliseconds of a step")
        axes = fig.add_subplot(title=title, xlabel=xlabel)
        ends = [0.0] * len(feeds)
        for (label, parts), colour in zip(stack.items(), figures.COLOURS, strict=False):
            widths = [sum(_step_ms(results, feed, net, part) for part in parts) for feed in feeds]
            axes.barh(
                range(len(feeds)),
                widths,
                left=ends,
                height=0.6,
                label=label,
                color=colour,
                hatch=figures.VIRTUAL_HATCH if virtual else None,
                edgecolor=figures.PAPER,
                linewidth=0.5,
            )
            ends = [end + width for end, width in zip(ends, widths, strict=True)]
        for i, feed in enumerate(feeds):
            text = _number(_step_ms(results, feed, net, WHOLE))
            axes.annotate(text, (ends[i], i), (5, 0), textcoords="offset points", va="center")
        _name_feeds(axes, feeds)
        axes.set_xlim(0, 1.25 * max(ends))
        figures.key(fig, axes)


def _timed(results: Results, net: str) -> dict[str, Measurement]:
    """The parts of a step with images in memory."""
    return {part: _step(results, RESIDENT, net, part) for part in PARTS}


def _draw_parts(results: Results, net: str, virtual: bool, path: Path) -> None:
    found = _timed(results, net)
    medians = [one.summary.median for each in FEEDS for one in _timed(results, each).values()]
    with figures.figure(path, figures.WIDTH, 3.0) as fig:
        title, xlabel = _title(results, net), say("milliseconds of a step")
        axes = fig.add_subplot(title=title, xlabel=xlabel, xscale="log")
        for i, one in enumerate(found.values()):
            _draw_spread(axes, i, one)
        axes.set_yticks(range(len(found)), [translation(part) for part in found])
        # the same for all nets, so that they can be compared
        axes.set(xlim=(min(medians) / 2, max(medians) * 6), ylim=(len(found) - 0.4, -0.6))
        figures.plain_ticks(axes.xaxis)
        axes.xaxis.set_major_locator(LogLocator())  # the values themselves are written
        axes.grid(visible=False, axis="y")
        if virtual:
            figures.say_virtual(fig)


def _draw_spread(axes: Axes, row: int, found: Measurement) -> None:
    """Draw the middle half of the samples as a line through their median, and write that."""
    s, colour = found.summary, figures.COLOURS[0]
    axes.plot([s.q1, s.q3], [row, row], color=colour, linewidth=2)
    axes.plot([s.median], [row], "o", color=colour, markersize=6)
    axes.annotate(
        _number(s.median),
        (s.q3, row),
        (8, 0),
        textcoords="offset points",
        va="center",
        color=figures.text_colour(colour),
    )
