"""The report's section on the speed of training (13.5, 13.6)."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from lab.data.datasets import FASHION_COUNTS
from lab.report import benchmarks, figures
from lab.report.benchmarks import TITLES, ratio, ratio_text, verdict_text
from lab.report.language import say
from lab.report.page import Figure, Headline, Section, Table, TryThis
from lab.results.measurements import Measurement, Results
from lab.results.stats import Ratio, summarise
from stages.bench_training.measure import names
from stages.bench_training.measure.comparisons import gain, ms_at_peak, notes_variant, peak_gflops

# ratios that compare across machines, where times do not
HEADLINES = {
    f"{names.LENET}_{names.FP32_SPEEDUP}": "LeNet, engine over the notes' way",
    f"{names.RESNET18}_{names.FP32_SPEEDUP}": "ResNet-18, engine over the notes' way",
}


def variants_in_words() -> dict[str, str]:
    """The variants as the page calls them."""
    return {
        names.FOUR_WORKERS: say("the notes' loop, 4 workers"),
        names.NO_WORKERS: say("the notes' loop, no workers"),
        names.LIGHTNING: "PyTorch Lightning",
        names.PLAIN: say("a plain loop"),
        names.ENGINE: say("this engine"),
        names.GRAPH: say("this engine, a CUDA graph"),
        names.COMPILED: say("this engine, compiled"),
        names.FP32: say("this engine, strict float32"),
        names.TF32: say("this engine, TensorFloat-32"),
        names.BF16: say("this engine, bfloat16"),
        names.COMPILED_BF16: say("this engine, bfloat16 compiled"),
        names.ONE_DEVICE: say("one device"),
        names.LOOP: say("two devices in a loop"),
        names.THREADS: say("two devices in threads"),
    }


def experiments_in_words(results: Results) -> dict[str, str]:
    """The nets and batches that are trained on devices of one process, as the page calls them."""
    large = results.one(names.LARGE_BATCH, names.ONE_DEVICE)
    return {
        names.NOTES_LENET: "LeNet",
        names.LARGE_BATCH: say("LeNet, batch {batch}", batch=f"{large.x:.0f}" if large else "–"),
        names.WIDE: say("LeNet, wider"),
    }


def section(folder: Path) -> Section:
    """The section of `folder` (reports/bench_training)."""
    results, m = benchmarks.read(folder)
    lead = benchmarks.ratio_of(m, f"{names.LENET}_{names.FP32_SPEEDUP}")
    return Section(
        stage="bench_training",
        title=say("Training: the notes' way and this engine"),
        book="13.5, 13.6",
        question=say(
            "How much faster than the notes' way does this engine train, and how near to the"
            " machine's peak?"
        ),
        answer=say(
            "This engine trains LeNet {median:.3g} times as fast as the notes' loop ({low:.3g} to"
            " {high:.3g}), at {share:.0f} % of the machine's peak.",
            **_numbers(lead),
            share=100 * m[f"{names.LENET}_{names.FP32_OF_PEAK}"],
        ),
        headline=_headline(lead),
        findings=[
            *_on_resnet(m),
            *_as_graphs(m),
            *_variants(results),
            *_peak(results, m),
            *_against_peers(results, m),
            *_by_hand(results),
            *_on_devices(results, m),
            *benchmarks.trust(m),
            *benchmarks.skipped(results),
        ],
        figures=_figures(results, m),
        tables=[_table(results)],
        try_this=TryThis(
            "bench_training.lenet_batch_size",
            "1024",
            say("Do batches of 1,024 images shrink this engine's lead over the notes' loop?"),
            say(
                "Hardly: most of what the notes' loop loses it loses with each image (loading one"
                " by one, pixels that do not count, memory asked for again), not with each step."
            ),
        ),
    )


def _numbers(found: Ratio) -> dict[str, float]:
    return {"median": found.median, "low": found.low, "high": found.high}


def _headline(lead: Ratio) -> Headline:
    return Headline(
        say("{median:.2g} times", median=lead.median),
        say(
            "{low:.3g} to {high:.3g}, {level:.0f} % of {starts} starts",
            low=lead.low,
            high=lead.high,
            level=100 * lead.level,
            starts=lead.count,
        ),
        say("as fast as the notes' loop: LeNet in this engine, the same losses up to rounding."),
    )


def _figures(results: Results, m: Mapping[str, Any]) -> list[Figure]:
    shown = [
        Figure(
            "training_speed",
            say("Milliseconds per training step of each variant, for LeNet and ResNet-18."),
            say(
                "Bars: medians; dots: starts, in processes that take turns. Orange: this engine,"
                " without the pixels that LeNet's last pooling drops. Dashed: what its step would"
                " take at the machine's peak."
            ),
            [partial(_draw_race, results, net) for net in TITLES],
        )
    ]
    if gains := _gains(results):
        virtual = m[names.TWO_DEVICES] == "cpu-virtual"
        shown.append(
            Figure(
                "training_on_devices",
                say("How many times as fast as one device two devices of one process train LeNet."),
                say(
                    "Dots: medians; lines: their intervals over starts; right of the dashed line"
                    " two devices are faster. The loop serves one device after the other, as in the"
                    " notes; threads serve both at once."
                ),
                [partial(_draw_gains, gains, experiments_in_words(results), virtual)],
            )
        )
    return shown


def _on_resnet(m: Mapping[str, Any]) -> list[str]:
    return [
        say(
            "ResNet-18 trains {ratio} as fast as by the notes' loop, at {share:.0f} % of the peak.",
            ratio=ratio(m, f"{names.RESNET18}_{names.FP32_SPEEDUP}"),
            share=100 * m[f"{names.RESNET18}_{names.FP32_OF_PEAK}"],
        )
    ]


def _as_graphs(m: Mapping[str, Any]) -> list[str]:
    """What a GPU gains where a whole step is one CUDA graph."""
    found = []
    for net, title in TITLES.items():
        if f"{net}_{names.GRAPH_SPEEDUP}" in m:
            found.append(
                say(
                    "With the whole step as one CUDA graph {net} trains {ratio} as fast as by the"
                    " notes' loop, in torch's own arithmetic.",
                    net=title,
                    ratio=ratio(m, f"{net}_{names.GRAPH_SPEEDUP}"),
                )
            )
        if f"{net}_{names.BF16_SPEEDUP}" in m:
            found.append(
                say(
                    "In bfloat16 that is {ratio} as fast as the notes' loop, at {share:.0f} % of"
                    " bfloat16's peak.",
                    ratio=ratio(m, f"{net}_{names.BF16_SPEEDUP}"),
                    share=100 * m[f"{net}_{names.BF16_OF_PEAK}"],
                )
            )
    return found


def _variants(results: Results) -> list[str]:
    """What other ways to compute make of this engine's step; on GPUs, of its graph."""
    variants = {
        names.BF16: say("in bfloat16 as in float32, at less precision"),
        names.COMPILED: say("compiled by torch.compile as without"),
        names.TF32: say("in TensorFloat-32 as in float32, at less precision"),
    }
    sentences = []
    for variant, how in variants.items():
        for net, title in TITLES.items():
            graph = names.GRAPH if variant == names.COMPILED else names.FP32
            base = graph if graph in results.variants(net) else names.ENGINE
            if found := gain(results, net, variant, over=base):
                text = ratio_text(found)
                sentences.append(
                    say("{net} trains {ratio} as fast {how}.", net=title, how=how, ratio=text)
                )
    return sentences


def _peak(results: Results, m: Mapping[str, Any]) -> list[str]:
    rates = {
        name: summarise(peak_gflops(results, name)).median
        for name in (names.PRODUCT, names.BF16_PRODUCT)
        if results.one(names.LENET, name)
    }
    if names.BF16_PRODUCT not in rates:
        return [
            say(
                "The peak: large matrix products or convolutions of ResNet-18's first blocks,"
                " whichever are faster, at {fp32:.0f} GFLOP/s in float32.",
                fp32=rates[names.PRODUCT],
            )
        ]
    return [
        say(
            "The peak: large matrix products or convolutions of ResNet-18's first blocks, whichever"
            " are faster, at {fp32:.0f} GFLOP/s in float32 and {bf16:.0f} in bfloat16.",
            fp32=rates[names.PRODUCT],
            bf16=rates[names.BF16_PRODUCT],
        ),
        say(
            "In bfloat16 the engine reaches {share:.0f} % of that peak on LeNet.",
            share=100 * m[f"{names.LENET}_{names.BF16_OF_PEAK}"],
        ),
    ]


def _against_peers(results: Results, m: Mapping[str, Any]) -> list[str]:
    sentences = []
    if plain := gain(results, names.LENET, names.ENGINE, over=names.PLAIN):
        sentences.append(
            say(
                "The engine is {verdict} a plain loop over float images in memory, as one writes"
                " it without this project: {ratio} as fast.",
                verdict=verdict_text(plain),
                ratio=ratio_text(plain),
            )
        )
    notes = notes_variant(results, names.LENET, m[names.NOTES_WORKERS])
    if peer := gain(results, names.LENET, names.LIGHTNING, over=notes):
        sentences.append(
            say(
                "PyTorch Lightning with the notes' loader is {verdict} the notes' own loop:"
                " {ratio} as fast.",
                verdict=verdict_text(peer),
                ratio=ratio_text(peer),
            )
        )
    return sentences


def _by_hand(results: Results) -> list[str]:
    timed = {
        variant: results.series(names.BY_HAND, variant)[0]
        for variant in results.variants(names.BY_HAND)
    }
    engine = timed.pop(names.ENGINE, None)
    return [
        say(
            "Two epochs timed by hand, alone on the machine: {notes:.1f} s each for {variant},"
            " {engine:.1f} s for this engine.",
            notes=found.values[0],
            variant=variants_in_words().get(variant, variant),
            engine=engine.values[0],
        )
        for variant, found in timed.items()
        if engine
    ]


def _gains(results: Results) -> dict[tuple[str, str], Ratio]:
    """How many times as fast as one device two are, by what they train and how."""
    return {
        (experiment, variant): found
        for experiment in names.ON_DEVICES
        for variant in (names.LOOP, names.THREADS)
        if (found := gain(results, experiment, variant, over=names.ONE_DEVICE))
    }


def _on_devices(results: Results, m: Mapping[str, Any]) -> list[str]:
    gains = _gains(results)
    devices = benchmarks.devices_in_words(m[names.TWO_DEVICES]) if gains else ""
    sentences = []
    if loop := gains.get((names.NOTES_LENET, names.LOOP)):
        sentences.append(
            say(
                "The notes' loop over two devices ({devices}) trains LeNet {ratio} as fast as one"
                " device.",
                devices=devices,
                ratio=ratio_text(loop),
            )
        )
    if threads := gains.get((names.NOTES_LENET, names.THREADS)):
        sentences.append(
            say(
                "With a thread for each of them, two devices train LeNet {ratio} as fast as one.",
                ratio=ratio_text(threads),
            )
        )
    return sentences


def _timed(results: Results, experiment: str) -> list[Measurement]:
    return [
        results.series(experiment, name)[0]
        for name in results.variants(experiment)
        if name not in names.PEAKS
    ]


def _table(results: Results) -> Table:
    rows, words = [], variants_in_words()
    for experiment, title in (TITLES | experiments_in_words(results)).items():
        for found in _timed(results, experiment):
            step, num_steps = found.summary, -(-FASHION_COUNTS["train"] // int(found.x))
            variant = words.get(found.variant, found.variant)
            rows.append(
                [
                    say("{net}: {variant}", net=title, variant=variant),
                    f"{found.x:.0f}",
                    f"{step.median:.2f} ({step.iqr:.2f})",
                    f"{num_steps * step.median / 1e3:.2f} ({num_steps * step.iqr / 1e3:.2f})",
                ]
            )
    return Table(
        [
            say("net and variant"),
            say("images per step"),
            say("ms per step (IQR)"),
            say("s per epoch of 60,000 (IQR)"),
        ],
        rows,
        say(
            "Medians over starts, in parentheses their interquartile range. An epoch is its steps;"
            " what the loader pays once an epoch counts in proportion."
        ),
    )


def _draw_race(results: Results, net: str, path: Path) -> None:
    """Draw the times of a net's step: the notes' loop, others, and this engine."""
    variants, words = _timed(results, net), variants_in_words()
    with figures.figure(path, figures.WIDTH, 1.1 + 0.5 * len(variants)) as fig:
        axes = fig.add_subplot(xlabel=say("milliseconds per step"))
        axes.set_title(
            say("{net}, {batch} images per step", net=TITLES[net], batch=f"{variants[0].x:.0f}")
        )
        for row, found in enumerate(variants):
            colour = figures.COLOURS[int(found.variant in names.BY_THE_ENGINE)]
            figures.bar_with_samples(axes, row, found.values, colour)
            axes.annotate(
                say("{ms} ms", ms=_digits(found.summary.median)),
                (max(found.values), row),
                (8, 0),
                textcoords="offset points",
                va="center",
            )
        longest = max(max(found.values) for found in variants)
        axes.set(xlim=(0, 1.3 * longest), ylim=(len(variants) - 0.4, -1.1))
        axes.set_yticks(
            range(len(variants)), [_in_lines(words.get(a.variant, a.variant)) for a in variants]
        )
        axes.grid(visible=False, axis="y")
        _draw_peak(axes, summarise(ms_at_peak(results, net)).median)


def _draw_peak(axes: Axes, ms: float) -> None:
    """Draw what a step would take at the peak, its name on the side that has room."""
    right = ms > 0.5 * axes.get_xlim()[1]
    axes.axvline(ms, color=figures.FAINT, linestyle="--", linewidth=1)
    axes.annotate(
        say("at the float32 peak"),
        (ms, -0.75),
        (-4 if right else 4, 0),
        textcoords="offset points",
        ha="right" if right else "left",
        va="center",
        color=figures.text_colour(figures.FAINT),
    )


def _draw_gains(
    gains: Mapping[tuple[str, str], Ratio],
    experiments: Mapping[str, str],
    virtual: bool,
    path: Path,
) -> None:
    """Draw by how much two devices gain: a row for each net and batch, a mark for each way."""
    shown = [
        experiment for experiment in names.ON_DEVICES if any(experiment == of for of, _ in gains)
    ]
    ways = {names.LOOP: (say("loop"), "o", -0.2), names.THREADS: (say("threads"), "s", 0.2)}
    with figures.figure(path, figures.WIDTH, 1.2 + 0.55 * len(shown)) as fig:
        axes = fig.add_subplot(xlabel=say("times as fast as one device"))
        for (experiment, variant), found in gains.items():
            name, marker, shift = ways[variant]
            colour = figures.COLOURS[int(variant == names.THREADS)]
            row = shown.index(experiment) + shift
            axes.plot([found.low, found.high], [row, row], color=colour, linewidth=2)
            axes.plot(found.median, row, marker, color=colour, markersize=6)
            axes.annotate(
                f"{name} {found.median:.2f}",
                (found.high, row),
                (5, 0),
                textcoords="offset points",
                va="center",
                color=figures.text_colour(colour),
            )
        low = min(0.9, *(found.low for found in gains.values()))
        high = max(1.2, *(found.high for found in gains.values()))
        axes.axvline(1, color=figures.FAINT, linestyle="--", linewidth=1)
        axes.set(xlim=(low - 0.05, high + 0.45 * (high - low)))  # room for the names
        axes.set(ylim=(len(shown) - 0.5, -0.5))
        axes.set_yticks(
            range(len(shown)), [_in_lines(experiments[experiment]) for experiment in shown]
        )
        axes.grid(visible=False, axis="y")
        if virtual:
            figures.say_virtual(fig)


def _in_lines(name: str) -> str:
    """A name of two parts on two lines, which leaves more width to what is drawn."""
    return name.replace(", ", ",\n", 1).replace("，", "，\n", 1)


def _digits(number: float) -> str:
    return f"{number:.0f}" if number >= 100 else f"{number:.1f}"
