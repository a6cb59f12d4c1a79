"""The report's section on what feeding a network costs (13.5)."""

from functools import partial
from pathlib import Path
from typing import Any

from lab.report import benchmarks, figures
from lab.report.benchmarks import ratio
from lab.report.language import say
from lab.report.page import Figure, Section, Table, TryThis
from lab.results.curves import key
from lab.results.measurements import Results

BOOK, RESIDENT = "the book's loader", "resident bytes"  # as lab.data.loaders, which needs torch
NETS = ("LeNet", "ResNet-18")
PARTS = ("load", "transfer", "forward", "backward", "all-reduce", "update")


def section(folder: Path) -> Section:
    """Return the section of `folder` (reports/bench_input)."""
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
                    " with resident"
                    " images."
                ),
                say(
                    "Nothing overlaps here but the loader's workers, which compete with the"
                    " network for the cores:"
                    " their cost shows as slower forward and backward passes. Evaluation is an"
                    " epoch's, divided by"
                    " its steps."
                ),
                partial(_draw_steps, results),
            ),
        ],
        tables=[_rates(results, m), _parts(results)],
        try_this=TryThis(
            "bench_input.batch_size", "64", say("see which parts of a step do not shrink with it")
        ),
    )


def _in_words(part: str) -> str:
    """Return a part of a step, which the rows name in English, in the language of the page."""
    return {
        "load": say("load"),
        "transfer": say("transfer"),
        "forward": say("forward"),
        "backward": say("backward"),
        "all-reduce": say("all-reduce"),
        "update": say("update"),
    }[part]


def _step_ms(results: Results, way: str, net: str, part: str) -> float:
    found = results.one(f"step, {way}", f"{net}: {part}")
    return found.summary.median if found else 0.0


def _findings(results: Results, m: dict[str, Any]) -> list[str]:
    sentences = [
        say(
            "Resident images arrive {ratio} as fast as through the book's loader: an epoch of"
            " 60,000 in"
            " {resident:.3f} s against {book:.2f} s, of which {first:.0f} ms are spent before the"
            " first batch, each"
            " epoch anew.",
            ratio=ratio(m, "resident_over_book"),
            resident=m[f"{key(RESIDENT)}_epoch_s"],
            book=m[f"{key(BOOK)}_epoch_s"],
            first=m[f"{key(BOOK)}_first_batch_ms"],
        )
    ]
    for net in NETS:
        both = {
            way: sum(_step_ms(results, way, net, part) for part in PARTS)
            for way in (BOOK, RESIDENT)
        }
        parts = {part: _step_ms(results, RESIDENT, net, part) for part in PARTS}
        percent = {part: 100 * ms / both[RESIDENT] for part, ms in parts.items()}
        largest = max(parts, key=lambda part: parts[part])
        sentences.append(
            say(
                "A step of {net} takes {book:.1f} ms with the book's loader and {resident:.1f} ms"
                " with resident"
                " images, most of it in {largest} ({most:.0f} %); the all-reduce is"
                " {all_reduce:.1f} %, the update"
                " {update:.1f} %.",
                net=net,
                book=both[BOOK],
                resident=both[RESIDENT],
                largest=_in_words(largest),
                most=percent[largest],
                all_reduce=percent["all-reduce"],
                update=percent["update"],
            )
        )
    return sentences


def _rates(results: Results, m: dict[str, Any]) -> Table:
    rows = []
    for name in results.arms("images"):
        first, epoch = results.one("first_batch", name), results.one("epoch", name)
        if first and epoch:
            rate, spread = m[f"{key(name)}_images_per_s"], m[f"{key(name)}_images_per_s_iqr"]
            rows.append(
                [
                    name,
                    f"{rate:,.0f} ({spread:,.0f})",
                    f"{first.summary.median:.1f}",
                    f"{epoch.summary.median:.3f} ({epoch.summary.iqr:.3f})",
                ]
            )
    return Table(
        [
            say("way"),
            say("images/s after the first batch (IQR)"),
            say("ms until the first batch"),
            say("s per epoch of 60,000 (IQR)"),
        ],
        rows,
        say(
            "The book's 3.0 s per epoch of LeNet on a GPU are 20,000 images per second: its"
            " loader's rate, not its"
            " GPU's."
        ),
    )


def _parts(results: Results) -> Table:
    rows = []
    for net in NETS:
        for way in (BOOK, RESIDENT):
            cells = []
            for part in PARTS:
                found = results.one(f"step, {way}", f"{net}: {part}")
                cells.append(
                    f"{found.summary.median:.2f} ({found.summary.iqr:.2f})" if found else "–"
                )
            evaluation = results.one("evaluation", net)
            last = (
                f"{evaluation.summary.median:.2f} ({evaluation.summary.iqr:.2f})"
                if evaluation
                else "–"
            )
            size = f"{evaluation.x:.0f}" if evaluation else "?"
            step = say("{net}, batch {batch_size}, {way}", net=net, batch_size=size, way=way)
            rows.append([step, *cells, last])
    return Table(
        [say("step"), *map(_in_words, PARTS), say("evaluation")],
        rows,
        say("Milliseconds, medians with IQR, every device waited for."),
    )


def _draw_rates(results: Results, virtual: bool, path: Path) -> None:
    names = results.arms("images")
    with figures.figure(path, 9, 0.9 + 0.5 * len(names)) as fig:
        axes = fig.add_subplot(xlabel="images per second", xscale="log")
        for i, name in enumerate(names):
            found = results.one("images", name)
            if not found:
                continue
            figures.bar_with_samples(axes, i, found.values, figures.COLOURS[0], virtual)
            text = f"{found.summary.median:,.0f}"
            axes.annotate(
                text, (max(found.values), i), (8, 0), textcoords="offset points", va="center"
            )
        values = [v for n in names if (one := results.one("images", n)) for v in one.values]
        axes.set_xlim(min(values) / 3, max(values) * 6)
        axes.set_yticks(range(len(names)), names)
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")


def _draw_steps(results: Results, path: Path) -> None:
    with figures.figure(path, 10, 4.4) as fig:
        for axes, net in zip(fig.subplots(2, 1), NETS, strict=True):
            evaluation = results.one("evaluation", net)
            extra = evaluation.summary.median if evaluation else 0.0
            for i, way in enumerate((BOOK, RESIDENT)):
                left = 0.0
                values = [_step_ms(results, way, net, part) for part in PARTS] + [extra]
                for j, (part, value) in enumerate(zip((*PARTS, "evaluation"), values, strict=True)):
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
