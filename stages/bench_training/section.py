"""The report's section on the speed of training (13.5, 13.6)."""

from functools import partial
from pathlib import Path
from typing import Any

from lab.report import benchmarks, figures
from lab.report.benchmarks import ratio
from lab.report.language import say
from lab.report.page import Figure, Section, Table, TryThis
from lab.results.curves import key
from lab.results.measurements import Results

TITLES = {"lenet": "LeNet", "resnet18": "ResNet-18"}
PEAK, ENGINE = "matrix product, fp32", "engine"


def section(folder: Path) -> Section:
    """Return the section of `folder` (reports/bench_training)."""
    results, m = benchmarks.read(folder)
    return Section(
        stage="bench_training",
        title=say("Training: the notes' way and this engine"),
        book="13.5, 13.6",
        question=say(
            "How much faster than the notes' way does this engine train, and how near to the"
            " machine's peak?"
        ),
        findings=[*_findings(m), benchmarks.trust(m), *benchmarks.skipped(results)],
        figures=[
            Figure(
                "training_speed",
                say("Milliseconds per training step of each way, for LeNet and ResNet-18."),
                say(
                    "Each way has a process of its own, and the processes take turns: dots are"
                    " turns, bars medians."
                    " The dashed line is what the step would take at the rate of large matrix"
                    " products in the same"
                    " run."
                ),
                partial(_draw, results, m),
            )
        ],
        tables=[_table(results, m)],
        try_this=TryThis(
            "bench_training.lenet_batch_size",
            "1024",
            say("see what larger batches leave of the differences"),
        ),
    )


def _findings(m: dict[str, Any]) -> list[str]:
    sentences = []
    for net, title in TITLES.items():
        share, low, high = (100 * m[f"{net}_fp32_of_peak{end}"] for end in ("", "_low", "_high"))
        sentences.append(
            say(
                "{net}: the engine is {ratio} as fast as “{way}” on the same mathematics, and"
                " reaches {share:.0f} %"
                " ({low:.0f} to {high:.0f}) of the peak that large products in float32 show in the"
                " same run.",
                net=title,
                ratio=ratio(m, f"{net}_fp32_speedup"),
                way=m[f"{net}_notes_faster_way"],
                share=share,
                low=low,
                high=high,
            )
        )
    against = {"lenet": say("the notes' way"), "resnet18": "float32"}
    sentences += [
        say(
            "In bfloat16, which is not the same arithmetic, {net} is {ratio} as fast as {way}.",
            net=title,
            ratio=ratio(m, f"{net}_bf16_speedup"),
            way=against[net],
        )
        for net, title in TITLES.items()
    ]
    ways = {"compiled": say("compiled by torch.compile"), "tf32": say("in TensorFloat-32")}
    sentences += [
        say(
            "{net}, {way}, is {ratio} as fast as the engine without.",
            net=title,
            way=way,
            ratio=ratio(m, f"{net}_{name}_speedup"),
        )
        for net, title in TITLES.items()
        for name, way in ways.items()
        if f"{net}_{name}_speedup" in m
    ]
    if "lenet_2workers_speedup" in m:
        sentences.append(
            say(
                "Two workers by `ddp` train LeNet {ratio} as fast as one of them alone.",
                ratio=ratio(m, "lenet_2workers_speedup"),
            )
        )
    if m["resnet18_fp32_of_peak"] > 1:
        sentences.append(
            say(
                "A share over 100 % is possible: Winograd's convolution does fewer multiplications"
                " than are"
                " counted."
            )
        )
    return sentences


def _table(results: Results, m: dict[str, Any]) -> Table:
    rows = []
    for net, title in TITLES.items():
        for name in results.arms(net):
            found = results.one(net, name)
            if found and name != PEAK:
                epoch, spread = m[f"{net}_{key(name)}_epoch_s"], m[f"{net}_{key(name)}_epoch_s_iqr"]
                step = f"{found.summary.median:.2f} ({found.summary.iqr:.2f})"
                rows.append(
                    [f"{title}: {name}", f"{found.x:.0f}", step, f"{epoch:.2f} ({spread:.2f})"]
                )
    return Table(
        [say("way"), say("batch"), say("ms per step (IQR)"), say("s per epoch of 60,000 (IQR)")],
        rows,
        say(
            "An epoch is told from its steps. The notes' loop starts its loader anew each epoch,"
            " which is not"
            " counted."
        ),
    )


def _draw(results: Results, m: dict[str, Any], path: Path) -> None:
    virtual = m["device_kind"] == "cpu-virtual"
    heights = [len(results.arms(net)) for net in TITLES]
    with figures.figure(path, 10, 1.4 + 0.42 * sum(heights)) as fig:
        for axes, (net, title) in zip(
            fig.subplots(2, 1, height_ratios=heights), TITLES.items(), strict=True
        ):
            ways = [
                found for n in results.arms(net) if n != PEAK and (found := results.one(net, n))
            ]
            for i, found in enumerate(ways):
                colour = figures.COLOURS[1 if found.arm.startswith(ENGINE) else 0]
                figures.bar_with_samples(axes, i, found.values, colour, virtual)
                text = f"{found.summary.median:.1f} ms"
                axes.annotate(
                    text, (max(found.values), i), (8, 0), textcoords="offset points", va="center"
                )
            at_peak = (
                next(f.summary.median for f in ways if f.arm == ENGINE) * m[f"{net}_fp32_of_peak"]
            )
            axes.axvline(at_peak, color=figures.FAINT, linestyle="--", linewidth=1)
            axes.annotate(
                "at the fp32 peak",
                (at_peak, -0.75),
                (3, 0),
                textcoords="offset points",
                color=figures.FAINT,
            )
            axes.set_yticks(range(len(ways)), [found.arm for found in ways])
            longest = max(max(found.values) for found in ways)
            axes.set(
                title=f"{title}, batch {ways[0].x:.0f} (ms per step)", xlim=(0, longest * 1.15)
            )
            axes.set_ylim(len(ways) - 0.4, -1.1)
            axes.grid(visible=False, axis="y")
