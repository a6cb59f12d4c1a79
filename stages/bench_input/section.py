"""The report's section on what feeding a network costs (13.5)."""

from functools import partial
from pathlib import Path
from typing import Any

from lab.report import benchmarks, figures
from lab.report.benchmarks import ratio
from lab.report.language import say, translation
from lab.report.page import Figure, Section, Table, TryThis
from lab.results.measurements import Results
from stages.bench_input import names
from stages.bench_input.names import BOOK, EVALUATION, NETS, PARTS, RESIDENT

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
                say("Nothing is computed with the images. Dots are passes, bars medians."),
                partial(_draw_rates, results, m["device_kind"] == "cpu-virtual"),
            ),
            Figure(
                "step_parts",
                say(
                    "Parts of a training step of LeNet and ResNet-18, with the book's loader and"
                    " with resident images."
                ),
                say(
                    "Nothing overlaps here but the loader's workers, which compete with the network"
                    " for the cores: their cost shows as slower forward and backward passes."
                    " Evaluation is an epoch's, divided by its steps."
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
    sentences = [
        say(
            "Resident images arrive {ratio} as fast as through the book's loader: an epoch of"
            " 60,000 in {resident:.3f} s against {book:.2f} s, of which {first:.0f} ms are spent"
            " before the first batch, each epoch anew.",
            ratio=ratio(m, names.RESIDENT_OVER_BOOK),
            resident=m[names.RESIDENT_EPOCH_S],
            book=m[names.BOOK_EPOCH_S],
            first=m[names.BOOK_FIRST_BATCH_MS],
        )
    ]
    for net in NETS:
        both = {
            feed: sum(_step_ms(results, feed, net, part) for part in PARTS)
            for feed in (BOOK, RESIDENT)
        }
        parts = {part: _step_ms(results, RESIDENT, net, part) for part in PARTS}
        percent = {part: 100 * ms / both[RESIDENT] for part, ms in parts.items()}
        largest = max(parts, key=lambda part: parts[part])
        sentences.append(
            say(
                "A step of {net} takes {book:.1f} ms with the book's loader and {resident:.1f} ms"
                " with resident images, most of it in {largest} ({most:.0f} %); the all-reduce is"
                " {all_reduce:.1f} %, the update {update:.1f} %.",
                net=net,
                book=both[BOOK],
                resident=both[RESIDENT],
                largest=translation(largest),
                most=percent[largest],
                all_reduce=percent[names.ALL_REDUCE],
                update=percent[names.UPDATE],
            )
        )
    return sentences


def _rates(results: Results) -> Table:
    rows = []
    for name in results.arms(names.IMAGES):
        rate, first, epoch = (
            results.one(demo, name) for demo in (names.IMAGES, names.FIRST_BATCH, names.EPOCH)
        )
        if rate and first and epoch:
            rows.append(
                [
                    translation(name),
                    f"{rate.summary.median:,.0f} ({rate.summary.iqr:,.0f})",
                    f"{first.summary.median:.1f}",
                    f"{epoch.summary.median:.3f} ({epoch.summary.iqr:.3f})",
                ]
            )
    return Table(
        [
            say("fed by"),
            say("images/s after the first batch (IQR)"),
            say("ms until the first batch"),
            say("s per epoch of 60,000 (IQR)"),
        ],
        rows,
        say(
            "The book's 3.0 s per epoch of LeNet on a GPU are 20,000 images per second: its"
            " loader's rate, not its GPU's."
        ),
    )


def _parts(results: Results) -> Table:
    rows = []
    for net in NETS:
        for feed in (BOOK, RESIDENT):
            cells = []
            for part in PARTS:
                found = results.one(names.step(feed), names.part_of(net, part))
                cells.append(
                    f"{found.summary.median:.2f} ({found.summary.iqr:.2f})" if found else "–"
                )
            evaluation = results.one(EVALUATION, net)
            last = (
                f"{evaluation.summary.median:.2f} ({evaluation.summary.iqr:.2f})"
                if evaluation
                else "–"
            )
            size = f"{evaluation.x:.0f}" if evaluation else "?"
            step = say(
                "{net}, batch {batch_size}, {feed}",
                net=net,
                batch_size=size,
                feed=translation(feed),
            )
            rows.append([step, *cells, last])
    return Table(
        [say("step"), *map(translation, (*PARTS, EVALUATION))],
        rows,
        say("Milliseconds, medians with IQR, every device waited for."),
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
    with figures.figure(path, 10, 4.4) as fig:
        for axes, net in zip(fig.subplots(2, 1), NETS, strict=True):
            evaluation = results.one(EVALUATION, net)
            extra = evaluation.summary.median if evaluation else 0.0
            for i, feed in enumerate((BOOK, RESIDENT)):
                left = 0.0
                values = [_step_ms(results, feed, net, part) for part in PARTS] + [extra]
                for j, (part, value) in enumerate(zip((*PARTS, EVALUATION), values, strict=True)):
                    colour = figures.COLOURS[j % len(figures.COLOURS)] if j < 6 else figures.FAINT
                    axes.barh(
                        i,
                        value,
                        left=left,
                        color=colour,
                        height=0.6,
                        label=part if i == 0 else None,
                    )
                    left += value
                axes.annotate(
                    f"{left:.1f} ms", (left, i), (5, 0), textcoords="offset points", va="center"
                )
            axes.set_yticks(range(2), (BOOK, RESIDENT))
            axes.set_title(f"{net}, batch {evaluation.x:.0f}" if evaluation else net)
            axes.margins(x=0.12)
            axes.invert_yaxis()
            axes.grid(visible=False, axis="y")
        axes.set_xlabel("milliseconds per step")
        fig.legend(
            *axes.get_legend_handles_labels(), loc="outside upper center", ncols=7, frameon=False
        )
