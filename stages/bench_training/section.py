"""The report's section on the speed of training (13.5, 13.6)."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from lab.data.datasets import FASHION_COUNTS
from lab.report import benchmarks, figures
from lab.report.benchmarks import ratio, ratio_text, verdict_text
from lab.report.language import say
from lab.report.page import Figure, Section, Table, TryThis
from lab.results.measurements import Measurement, Results
from lab.results.stats import summarise
from stages.bench_training import names
from stages.bench_training.comparisons import gain, ms_at_peak, notes_arm, product_gflops

# ratios that compare across machines, where times do not
HEADLINES = {
    f"{names.LENET}_{names.FP32_SPEEDUP}": "LeNet, engine over the notes' way",
    f"{names.RESNET18}_{names.FP32_SPEEDUP}": "ResNet-18, engine over the notes' way",
}

TITLES = {names.LENET: "LeNet", names.RESNET18: "ResNet-18"}
DEVICE_TITLES = {
    names.NOTES_LENET: "LeNet",
    names.LARGE_BATCH: "LeNet, larger batch",
    names.WIDE: "LeNet, wider",
}


def section(folder: Path) -> Section:
    """The section of `folder` (reports/bench_training)."""
    results, m = benchmarks.read(folder)
    shown = [
        Figure(
            "training_speed",
            say("Milliseconds per training step of each arm, for LeNet and ResNet-18."),
            say(
                "Each arm has a process of its own, and the processes take turns: dots are starts"
                " of all processes, bars medians. The engine leaves out the last two rows and"
                " columns of pixels, which LeNet's last pooling drops with all that is computed of"
                " them. The dashed line is what the rest would take at the rate of large matrix"
                " products in the same turns."
            ),
            partial(_draw, results, TITLES, False),
        )
    ]
    if m[names.TWO_DEVICES] != "none":
        shown.append(
            Figure(
                "training_on_devices",
                say("Milliseconds per step of LeNet on one and on two devices of one process."),
                say(
                    "Dots are starts, bars medians. The loop goes from device to device, as in the"
                    " notes; the threads work side by side. All devices have equal threads."
                ),
                partial(_draw, results, DEVICE_TITLES, m[names.TWO_DEVICES] == "cpu-virtual"),
            )
        )
    return Section(
        stage="bench_training",
        title=say("Training: the notes' way and this engine"),
        book="13.5, 13.6",
        question=say(
            "How much faster than the notes' way does this engine train, and how near to the"
            " machine's peak?"
        ),
        findings=[
            *_against_the_notes(results, m),
            *_against_peers(results, m),
            *_by_hand(results),
            *_on_devices(results, m),
            benchmarks.trust(m),
            *benchmarks.skipped(results),
        ],
        figures=shown,
        tables=[_table(results)],
        try_this=TryThis(
            "bench_training.lenet_batch_size",
            "1024",
            say("see what larger batches leave of the differences"),
        ),
    )


def _against_the_notes(results: Results, m: dict[str, Any]) -> list[str]:
    sentences = [
        say(
            "{net}: the engine is {ratio} as fast as “{arm}” on the same mathematics, and reaches"
            " {share:.0f} % of the peak that large products in float32 show in the same turns.",
            net=title,
            ratio=ratio(m, f"{net}_{names.FP32_SPEEDUP}"),
            arm=notes_arm(results, net, m[names.NOTES_WORKERS]),
            share=100 * m[f"{net}_{names.FP32_OF_PEAK}"],
        )
        for net, title in TITLES.items()
    ]
    variants = {
        names.BF16: say("in bfloat16, which is not the same arithmetic"),
        names.COMPILED: say("compiled by torch.compile"),
        names.TF32: say("in TensorFloat-32"),
    }
    sentences += [
        say(
            "{net}, {variant}, is {ratio} as fast as the engine without.",
            net=title,
            variant=text,
            ratio=ratio_text(found),
        )
        for arm, text in variants.items()
        for net, title in TITLES.items()
        if (found := gain(results, net, arm, over=names.ENGINE))
    ]
    rows = names.PRODUCT_ROWS["cuda" if m["device_kind"] == "cuda" else "cpu"]
    rates = [
        summarise(product_gflops(results.series(names.LENET, name)[0].values, rows)).median
        for name in names.PRODUCTS
    ]
    sentences.append(
        say(
            "The peak: products of {rows} rows run at {fp32:.0f} GFLOP/s in float32 and {bf16:.0f}"
            " in bfloat16; of the latter the engine in bfloat16 reaches {share:.0f} % on LeNet.",
            rows=rows,
            fp32=rates[0],
            bf16=rates[1],
            share=100 * m[f"{names.LENET}_{names.BF16_OF_PEAK}"],
        )
    )
    if any(m[f"{net}_{names.FP32_OF_PEAK}"] > 1 for net in names.NETS):
        sentences.append(
            say(
                "A share over 100 % is possible: Winograd's convolution does fewer multiplications"
                " than are counted."
            )
        )
    return sentences


def _against_peers(results: Results, m: dict[str, Any]) -> list[str]:
    sentences = []
    if plain := gain(results, names.LENET, names.ENGINE, over=names.PLAIN):
        sentences.append(
            say(
                "What a good engineer writes without this project, a plain loop over float images"
                " in memory: the engine is {verdict} it, {ratio} as fast.",
                verdict=verdict_text(plain),
                ratio=ratio_text(plain),
            )
        )
    notes = notes_arm(results, names.LENET, m[names.NOTES_WORKERS])
    if peer := gain(results, names.LENET, names.LIGHTNING, over=notes):
        sentences.append(
            say(
                "PyTorch Lightning with the notes' loader is {verdict} the notes' own loop,"
                " {ratio} as fast.",
                verdict=verdict_text(peer),
                ratio=ratio_text(peer),
            )
        )
    return sentences


def _by_hand(results: Results) -> list[str]:
    timed = {arm: results.series(names.BY_HAND, arm)[0] for arm in results.arms(names.BY_HAND)}
    engine = timed.pop(names.ENGINE, None)
    return [
        say(
            "Whoever times two epochs of LeNet by hand, once, in a program that is alone on the"
            " machine, finds {notes:.1f} s an epoch for “{arm}” and {engine:.1f} s for the engine.",
            notes=found.values[0],
            arm=arm,
            engine=engine.values[0],
        )
        for arm, found in timed.items()
        if engine
    ]


def _on_devices(results: Results, m: dict[str, Any]) -> list[str]:
    found = {
        (demo, arm): gain(results, demo, arm, over=names.ONE_DEVICE)
        for demo in names.ON_DEVICES
        for arm in (names.LOOP, names.THREADS)
    }
    loop, wide_loop = found[names.NOTES_LENET, names.LOOP], found[names.WIDE, names.LOOP]
    threads = [found[demo, names.THREADS] for demo in names.ON_DEVICES]
    if loop is None or wide_loop is None or None in threads:
        return []
    gains = [ratio_text(each) for each in threads if each]
    return [
        say(
            "On two devices of one process ({devices}) the notes' loop is {loop} as fast as one"
            " device on LeNet, and {wide} on a wider one. With a thread for each device LeNet is"
            " {threads} as fast, with larger batches {larger}, and wider {wider}.",
            devices=benchmarks.devices_in_words(m[names.TWO_DEVICES]),
            loop=ratio_text(loop),
            wide=ratio_text(wide_loop),
            threads=gains[0],
            larger=gains[1],
            wider=gains[2],
        )
    ]


def _timed(results: Results, demo: str) -> list[Measurement]:
    return [
        results.series(demo, name)[0] for name in results.arms(demo) if name not in names.PRODUCTS
    ]


def _table(results: Results) -> Table:
    rows = []
    for demo, title in (TITLES | DEVICE_TITLES).items():
        for found in _timed(results, demo):
            step, num_steps = found.summary, -(-FASHION_COUNTS["train"] // int(found.x))
            rows.append(
                [
                    f"{title}: {found.arm}",
                    f"{found.x:.0f}",
                    f"{step.median:.2f} ({step.iqr:.2f})",
                    f"{num_steps * step.median / 1e3:.2f} ({num_steps * step.iqr / 1e3:.2f})",
                ]
            )
    return Table(
        [say("arm"), say("batch"), say("ms per step (IQR)"), say("s per epoch of 60,000 (IQR)")],
        rows,
        say(
            "Medians over starts, in parentheses the width of their middle half. An epoch's time"
            " is that of its steps; where a turn is shorter than an epoch, what the loader pays"
            " once an epoch counts in proportion. What an epoch of the engine really takes is"
            " `epoch_s` in the metrics of stage `train`, and in what it prints."
        ),
    )


def _draw(results: Results, titles: dict[str, str], virtual: bool, path: Path) -> None:
    arms = {demo: _timed(results, demo) for demo in titles}
    heights = [len(found) for found in arms.values()]
    with figures.figure(path, 10, 0.7 * (1 + len(titles)) + 0.42 * sum(heights)) as fig:
        panels = fig.subplots(len(titles), 1, height_ratios=heights)
        for axes, (demo, found) in zip(panels, arms.items(), strict=True):
            _draw_bars(axes, found, virtual)
            if demo in names.NETS:
                _draw_peak(axes, ms_at_peak(results, demo))
            axes.set(title=f"{titles[demo]}, batch {found[0].x:.0f} (ms per step)")


def _draw_bars(axes: Any, arms: Sequence[Measurement], virtual: bool) -> None:
    for i, found in enumerate(arms):
        ours = found.arm in (*names.BY_THE_ENGINE, names.THREADS)
        figures.bar_with_samples(axes, i, found.values, figures.COLOURS[int(ours)], virtual)
        text = f"{found.summary.median:.1f} ms"
        place = (max(found.values), i)
        axes.annotate(text, place, (8, 0), textcoords="offset points", va="center")
    axes.set_yticks(range(len(arms)), [found.arm for found in arms])
    axes.set_xlim(0, max(max(found.values) for found in arms) * 1.15)
    axes.set_ylim(len(arms) - 0.4, -1.1)
    axes.grid(visible=False, axis="y")


def _draw_peak(axes: Any, ms: Sequence[float]) -> None:
    at_peak = summarise(ms).median
    axes.axvline(at_peak, color=figures.FAINT, linestyle="--", linewidth=1)
    axes.annotate(
        "at the fp32 peak",
        (at_peak, -0.75),
        (3, 0),
        textcoords="offset points",
        color=figures.FAINT,
    )
