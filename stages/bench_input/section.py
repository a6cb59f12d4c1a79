"""The report's section on what feeding a network costs (13.5)."""

from functools import partial
from pathlib import Path
from typing import Any

from lab.data.datasets import FASHION_COUNTS
from lab.report import benchmarks, figures
from lab.report.benchmarks import ratio, ratio_text
from lab.report.language import say, translation
from lab.report.page import Figure, Section, Table, TryThis
from lab.results.measurements import Results
from lab.results.stats import speedup
from stages.bench_input import names
from stages.bench_input.names import BOOK, EVALUATION, FEEDS, LENET, PARTS, RESIDENT, WHOLE

# ratios that compare across machines, where times do not
HEADLINES = {names.RESIDENT_OVER_BOOK: f"{RESIDENT} over {BOOK}"}


def section(folder: Path) -> Section:
    """The section of `folder` (reports/bench_input)."""
    results, m = benchmarks.read(folder)
    return Section(
        stage="bench_input",
        title=say("Input, and where a step's time goes"),
        book="13.5",
        question=say("How fast do images arrive, and where does the time of a training step go?"),
        findings=[*_findings(results, m), benchmarks.trust(m), *benchmarks.skipped(results)],
        figures=[
            Figure(
                "input_rates",
                say("Images per second of four ways to feed a network."),
                say(
                    "Nothing is computed with the images. Dots are starts of the process, bars"
                    " medians."
                ),
                partial(_draw_rates, results, m["device_kind"] == "cpu-virtual"),
            ),
            Figure(
                "step_parts",
                say(
                    "Parts of a training step of LeNet, fed in three ways, and of ResNet-18 with"
                    " resident images."
                ),
                say(
                    "Nothing overlaps here but the book's four workers, which compete with the"
                    " network for the cores: their cost shows as slower forward and backward"
                    " passes, hardly in the loading. Without workers it shows as loading."
                    " Evaluation is an epoch's on one device, told from some batches, divided by"
                    " the epoch's steps. Bars are medians over starts."
                ),
                partial(_draw_steps, results),
            ),
        ],
        tables=[_rates(results), _parts(results)],
        try_this=TryThis(
            "bench_input.batch_size", "64", say("see which parts of a step do not shrink with it")
        ),
    )


def _step_ms(results: Results, feed: str, net: str, part: str) -> float:
    found = results.one(names.step(feed), names.part_of(net, part))
    return found.summary.median if found else 0.0


def _findings(results: Results, m: dict[str, Any]) -> list[str]:
    epoch = results.one(names.EPOCH, RESIDENT)
    sentences = [
        say(
            "Resident images arrive {ratio} as fast as through the book's loader: an epoch of"
            " {images:,.0f} in {resident:.3f} s against {book:.2f} s, of which {first:.0f} ms are"
            " spent before the first batch, each epoch anew.",
            images=epoch.x if epoch else 0,
            ratio=ratio(m, names.RESIDENT_OVER_BOOK),
            resident=m[names.RESIDENT_EPOCH_S],
            book=m[names.BOOK_EPOCH_S],
            first=m[names.BOOK_FIRST_BATCH_MS],
        )
    ]
    for net in FEEDS:
        whole = _step_ms(results, RESIDENT, net, WHOLE)
        percent = {part: 100 * _step_ms(results, RESIDENT, net, part) / whole for part in PARTS}
        largest = max(percent, key=lambda part: percent[part])
        sentences.append(
            say(
                "A step of {net} with resident images takes {whole:.1f} ms, most of it in {largest}"
                " ({most:.0f} %); the all-reduce is {all_reduce:.1f} %, the update {update:.1f} %.",
                net=net,
                whole=whole,
                largest=translation(largest),
                most=percent[largest],
                all_reduce=percent[names.ALL_REDUCE],
                update=percent[names.UPDATE],
            )
        )
    book, alone, resident = (
        results.one(names.step(feed), names.part_of(LENET, WHOLE)) for feed in FEEDS[LENET]
    )
    if book and alone and resident:
        sentences.append(
            say(
                "LeNet's step takes {alone} as long if its images are read and preprocessed in the"
                " training process, {book} with the book's four workers, of which {load:.1f} ms are"
                " waiting for them: the rest is what they take of the cores.",
                alone=ratio_text(speedup(alone.values, resident.values)),
                book=ratio_text(speedup(book.values, resident.values)),
                load=_step_ms(results, BOOK, LENET, names.LOAD),
            )
        )
    return [*sentences, *_preparation(results), *_python(results)]


def _preparation(results: Results) -> list[str]:
    read, preprocess = (
        results.one(names.PREPARATION, arm) for arm in (names.READ, names.PREPROCESS)
    )
    if not read or not preprocess:
        return []
    return [
        say(
            "Of a batch of {n:.0f} images, reading the bytes takes {read:.2f} ms and preprocessing"
            " them {preprocess:.2f} ms.",
            n=read.x,
            read=read.summary.median,
            preprocess=preprocess.summary.median,
        )
    ]


def _python(results: Results) -> list[str]:
    calls = results.one(names.PYTHON, names.CALLS)
    if not calls:
        return []
    shares = [
        say(
            "{percent:.3g} % ({low:.3g} to {high:.3g}) of one of {n:.0f} images",
            percent=100 * share.median,
            low=100 * share.low,
            high=100 * share.high,
            n=step.x,
        )
        for step in results.series(names.PYTHON, names.STEP)
        for share in [speedup(calls.values, step.values)]
    ]
    return [
        say(
            "The calls of a LeNet step as the notes write it, with next to nothing to compute, take"
            " {ms:.2f} ms: {shares}. That is Python and the framework around its kernels.",
            ms=calls.summary.median,
            shares=say("; ").join(shares),
        )
    ]


def _rates(results: Results) -> Table:
    rows = []
    for name in results.arms(names.IMAGES):
        rate, first, epoch = (
            results.one(demo, name, x)
            for demo, x in (
                (names.IMAGES, None),
                (names.FIRST_BATCH, None),
                (names.EPOCH, FASHION_COUNTS["train"]),
            )
        )
        if rate and first:
            rows.append(
                [
                    translation(name),
                    f"{rate.x:,.0f}",
                    f"{rate.summary.median:,.0f} ({rate.summary.iqr:,.0f})",
                    f"{first.summary.median:.1f}",
                    f"{epoch.summary.median:.3f} ({epoch.summary.iqr:.3f})" if epoch else "–",
                ]
            )
    return Table(
        [
            say("fed by"),
            say("images of a pass"),
            say("images/s after the first batch (IQR)"),
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
    rows = []
    for net, feeds in FEEDS.items():
        for feed in feeds:
            parts = [
                results.one(names.step(feed), names.part_of(net, part)) for part in (*PARTS, WHOLE)
            ]
            found = [*parts, results.one(EVALUATION, net)]
            cells = [f"{m.summary.median:.2f} ({m.summary.iqr:.2f})" if m else "–" for m in found]
            step = say(
                "{net}, batch {batch_size}, {feed}",
                net=net,
                batch_size=f"{parts[0].x:.0f}" if parts[0] else "?",
                feed=translation(feed),
            )
            rows.append([step, *cells])
    return Table(
        [say("step"), *map(translation, (*PARTS, WHOLE, EVALUATION))],
        rows,
        say("Milliseconds, medians over starts with IQR, every device waited for."),
    )


def _draw_rates(results: Results, virtual: bool, path: Path) -> None:
    feeds = results.arms(names.IMAGES)
    with figures.figure(path, 9, 0.9 + 0.5 * len(feeds)) as fig:
        axes = fig.add_subplot(xlabel="images per second", xscale="log")
        for i, name in enumerate(feeds):
            found = results.one(names.IMAGES, name)
            if not found:
                continue
            figures.bar_with_samples(axes, i, found.values, figures.COLOURS[0], virtual)
            text = f"{found.summary.median:,.0f}"
            axes.annotate(
                text, (max(found.values), i), (8, 0), textcoords="offset points", va="center"
            )
        values = [v for n in feeds if (one := results.one(names.IMAGES, n)) for v in one.values]
        axes.set_xlim(min(values) / 3, max(values) * 6)
        axes.set_yticks(range(len(feeds)), feeds)
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")


def _draw_steps(results: Results, path: Path) -> None:
    heights = [len(feeds) for feeds in FEEDS.values()]
    with figures.figure(path, 10, 4.6) as fig:
        plots = fig.subplots(len(FEEDS), 1, height_ratios=heights)
        for axes, (net, feeds) in zip(plots, FEEDS.items(), strict=True):
            evaluation = results.one(EVALUATION, net)
            parts = (*PARTS, EVALUATION) if evaluation else PARTS
            for i, feed in enumerate(feeds):
                left = 0.0
                for j, part in enumerate(parts):
                    value = (
                        evaluation.summary.median
                        if evaluation and part == EVALUATION
                        else _step_ms(results, feed, net, part)
                    )
                    colour = figures.FAINT if part == EVALUATION else figures.COLOURS[j]
                    axes.barh(i, value, left=left, color=colour, height=0.6, label=part)
                    left += value
                axes.annotate(
                    f"{left:.1f} ms", (left, i), (5, 0), textcoords="offset points", va="center"
                )
            whole = results.one(names.step(RESIDENT), names.part_of(net, WHOLE))
            axes.set_yticks(range(len(feeds)), feeds)
            axes.set_title(f"{net}, batch {whole.x:.0f}" if whole else net)
            axes.margins(x=0.12)
            axes.invert_yaxis()
            axes.grid(visible=False, axis="y")
        plots[-1].set_xlabel("milliseconds per step")
        handles, labels = plots[0].get_legend_handles_labels()
        once = dict(zip(labels, handles, strict=True))
        fig.legend(once.values(), once.keys(), loc="outside upper center", ncols=7, frameon=False)
