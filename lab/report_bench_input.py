"""The report's section on what feeding a network costs (13.5)."""

from pathlib import Path
from typing import Any

from lab import figures, report_bench
from lab.curves import key
from lab.measurements import Results
from lab.page import Figure, Section, Table, TryThis
from lab.report_bench import ratio
from lab.words import say

BOOK, RESIDENT = "the book's loader", "resident bytes"  # as lab.inputs, which needs torch
NETS = ("LeNet", "ResNet-18")
PARTS = ("load", "transfer", "forward", "backward", "all-reduce", "update")


def section(folder: Path, drawings: Path) -> Section:
    """Draw the figures of `folder` (reports/bench_input) into `drawings` and return the section."""
    results, m = report_bench.read(folder)
    _draw_rates(results, drawings / "input_rates.svg", m["device_kind"] == "cpu-virtual")
    _draw_steps(results, drawings / "step_parts.svg")
    return Section(
        stage="bench_input",
        title="Input, and where a step's time goes",
        book="13.5",
        question="How fast do images arrive, and where does the time of a training step go?",
        findings=[*_findings(results, m), report_bench.trust(m), *report_bench.skipped(results)],
        figures=[
            Figure(
                "input_rates",
                "Images per second of four ways to feed a network.",
                "Nothing is computed with the images. Dots are passes, bars medians.",
            ),
            Figure(
                "step_parts",
                "Parts of a training step of LeNet and ResNet-18, with the book's loader and with resident images.",
                "Nothing overlaps here but the loader's workers, which compete with the network for the cores:"
                " their cost shows as slower forward and backward passes. Evaluation is an epoch's, divided by"
                " its steps.",
            ),
        ],
        tables=[_rates(results, m), _parts(results)],
        try_this=TryThis("bench_input.batch_size", "64", say("see which parts of a step do not shrink with it")),
    )


def _step_ms(results: Results, way: str, net: str, part: str) -> float:
    found = results.one(f"step, {way}", f"{net}: {part}")
    return found.summary.median if found else 0.0


def _findings(results: Results, m: dict[str, Any]) -> list[str]:
    sentences = [
        f"Resident images arrive {ratio(m, 'resident_over_book')} as fast as through the book's loader: an epoch"
        f" of 60,000 in {m[f'{key(RESIDENT)}_epoch_s']:.3f} s against {m[f'{key(BOOK)}_epoch_s']:.2f} s, of which"
        f" {m[f'{key(BOOK)}_first_batch_ms']:.0f} ms are spent before the first batch, each epoch anew."
    ]
    for net in NETS:
        both = {way: sum(_step_ms(results, way, net, part) for part in PARTS) for way in (BOOK, RESIDENT)}
        parts = {part: _step_ms(results, RESIDENT, net, part) for part in PARTS}
        largest = max(parts, key=lambda part: parts[part])
        sentences.append(
            f"A step of {net} takes {both[BOOK]:.1f} ms with the book's loader and {both[RESIDENT]:.1f} ms with"
            f" resident images, most of it in {largest} ({100 * parts[largest] / both[RESIDENT]:.0f} %); the"
            f" all-reduce is {100 * parts['all-reduce'] / both[RESIDENT]:.1f} %, the update"
            f" {100 * parts['update'] / both[RESIDENT]:.1f} %."
        )
    return sentences


def _rates(results: Results, m: dict[str, Any]) -> Table:
    rows = []
    for name in results.arms("images"):
        first, epoch = results.one("first_batch", name), results.one("epoch", name)
        if first and epoch:
            rate, spread = m[f"{key(name)}_images_per_s"], m[f"{key(name)}_images_per_s_iqr"]
            rows.append([name, f"{rate:,.0f} ({spread:,.0f})", f"{first.summary.median:.1f}",
                         f"{epoch.summary.median:.3f} ({epoch.summary.iqr:.3f})"])  # fmt: skip
    return Table(
        [
            "way",
            "images/s after the first batch (IQR)",
            "ms until the first batch",
            "s per epoch of 60,000 (IQR)",
        ],
        rows,
        "The book's 3.0 s per epoch of LeNet on a GPU are 20,000 images per second: its loader's rate, not its"
        " GPU's.",
    )


def _parts(results: Results) -> Table:
    rows = []
    for net in NETS:
        for way in (BOOK, RESIDENT):
            cells = []
            for part in PARTS:
                found = results.one(f"step, {way}", f"{net}: {part}")
                cells.append(f"{found.summary.median:.2f} ({found.summary.iqr:.2f})" if found else "–")
            evaluation = results.one("evaluation", net)
            last = f"{evaluation.summary.median:.2f} ({evaluation.summary.iqr:.2f})" if evaluation else "–"
            size = f"{evaluation.x:.0f}" if evaluation else "?"
            rows.append([f"{net}, batch {size}, {way}", *cells, last])
    return Table(["step", *PARTS, "evaluation"], rows, "Milliseconds, medians with IQR, every device waited for.")


def _draw_rates(results: Results, path: Path, virtual: bool) -> None:
    names = results.arms("images")
    with figures.figure(path, 9, 0.9 + 0.5 * len(names)) as fig:
        axes = fig.add_subplot(xlabel="images per second", xscale="log")
        for i, name in enumerate(names):
            found = results.one("images", name)
            if not found:
                continue
            figures.bar_with_samples(axes, i, found.values, figures.COLOURS[0], virtual)
            text = f"{found.summary.median:,.0f}"
            axes.annotate(text, (max(found.values), i), (8, 0), textcoords="offset points", va="center")
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
                    axes.barh(i, value, left=left, color=colour, height=0.6, label=part if i == 0 else None)
                    left += value
                axes.annotate(f"{left:.1f} ms", (left, i), (5, 0), textcoords="offset points", va="center")
            axes.set_yticks(range(2), (BOOK, RESIDENT))
            axes.set_title(f"{net}, batch {evaluation.x:.0f}" if evaluation else net)
            axes.margins(x=0.12)
            axes.invert_yaxis()
            axes.grid(visible=False, axis="y")
        axes.set_xlabel("milliseconds per step")
        fig.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=7, frameon=False)
