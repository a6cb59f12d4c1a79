"""The report's section on the speed of training (13.5, 13.6)."""

from functools import partial
from pathlib import Path
from typing import Any

from lab.data.datasets import FASHION_COUNTS
from lab.report import benchmarks, figures
from lab.report.benchmarks import ratio, ratio_text
from lab.report.language import say
from lab.report.page import Figure, Section, Table, TryThis
from lab.results.measurements import Results
from lab.results.stats import summarise
from stages.bench_training import names
from stages.bench_training.comparisons import faster_by_the_notes, gain, ms_at_peak, share_of_peak

# ratios that compare across machines, where times do not
HEADLINES = {
    f"{names.LENET}_{names.FP32_SPEEDUP}": "LeNet, engine over the notes' way",
    f"{names.RESNET18}_{names.FP32_SPEEDUP}": "ResNet-18, engine over the notes' way",
    names.TWO_WORKERS_SPEEDUP: "LeNet, two ddp workers over one",
}

TITLES = {names.LENET: "LeNet", names.RESNET18: "ResNet-18"}


def section(folder: Path) -> Section:
    """The section of `folder` (reports/bench_training)."""
    results, m = benchmarks.read(folder)
    return Section(
        stage="bench_training",
        title=say("Training: the notes' way and this engine"),
        book="13.5, 13.6",
        question=say(
            "How much faster than the notes' way does this engine train, and how near to the"
            " machine's peak?"
        ),
        findings=[*_findings(results, m), benchmarks.trust(m), *benchmarks.skipped(results)],
        figures=[
            Figure(
                "training_speed",
                say("Milliseconds per training step of each arm, for LeNet and ResNet-18."),
                say(
                    "Each arm has a process of its own, and the processes take turns: dots are"
                    " turns, bars medians. The dashed line is what the step would take at the rate"
                    " of large matrix products in the same run."
                ),
                partial(_draw, results, m["device_kind"] == "cpu-virtual"),
            )
        ],
        tables=[_table(results)],
        try_this=TryThis(
            "bench_training.lenet_batch_size",
            "1024",
            say("see what larger batches leave of the differences"),
        ),
    )


def _findings(results: Results, m: dict[str, Any]) -> list[str]:
    sentences = []
    for net, title in TITLES.items():
        share = share_of_peak(results, net)
        sentences.append(
            say(
                "{net}: the engine is {ratio} as fast as “{arm}” on the same mathematics, and"
                " reaches {share:.0f} % ({low:.0f} to {high:.0f}) of the peak that large products"
                " in float32 show in the same run.",
                net=title,
                ratio=ratio(m, f"{net}_{names.FP32_SPEEDUP}"),
                arm=faster_by_the_notes(results, net).arm,
                share=100 * m[f"{net}_{names.FP32_OF_PEAK}"],
                low=100 * share.low,
                high=100 * share.high,
            )
        )
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
    if names.TWO_WORKERS_SPEEDUP in m:
        sentences.append(
            say(
                "Two workers by `ddp` train LeNet {ratio} as fast as one of them alone.",
                ratio=ratio(m, names.TWO_WORKERS_SPEEDUP),
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


def _table(results: Results) -> Table:
    rows = []
    for net, title in TITLES.items():
        for name in results.arms(net):
            [found] = results.series(net, name)
            if name == names.PRODUCT:
                continue
            step, num_steps = found.summary, -(-FASHION_COUNTS["train"] // int(found.x))
            epoch = summarise([num_steps * ms / 1e3 for ms in found.values])
            rows.append(
                [
                    f"{title}: {name}",
                    f"{found.x:.0f}",
                    f"{step.median:.2f} ({step.iqr:.2f})",
                    f"{epoch.median:.2f} ({epoch.iqr:.2f})",
                ]
            )
    return Table(
        [say("arm"), say("batch"), say("ms per step (IQR)"), say("s per epoch of 60,000 (IQR)")],
        rows,
        say(
            "An epoch's time is computed from its steps. The notes' loop starts its loader anew"
            " each epoch, which is not counted."
        ),
    )


def _draw(results: Results, virtual: bool, path: Path) -> None:
    heights = [len(results.arms(net)) for net in TITLES]
    with figures.figure(path, 10, 1.4 + 0.42 * sum(heights)) as fig:
        for axes, (net, title) in zip(
            fig.subplots(2, 1, height_ratios=heights), TITLES.items(), strict=True
        ):
            arms = [
                m for n in results.arms(net) if n != names.PRODUCT for m in results.series(net, n)
            ]
            for i, found in enumerate(arms):
                colour = figures.COLOURS[1 if found.arm in names.BY_THE_ENGINE else 0]
                figures.bar_with_samples(axes, i, found.values, colour, virtual)
                text = f"{found.summary.median:.1f} ms"
                axes.annotate(
                    text, (max(found.values), i), (8, 0), textcoords="offset points", va="center"
                )
            at_peak = summarise(ms_at_peak(results, net)).median
            axes.axvline(at_peak, color=figures.FAINT, linestyle="--", linewidth=1)
            axes.annotate(
                "at the fp32 peak",
                (at_peak, -0.75),
                (3, 0),
                textcoords="offset points",
                color=figures.FAINT,
            )
            axes.set_yticks(range(len(arms)), [found.arm for found in arms])
            longest = max(max(found.values) for found in arms)
            axes.set(
                title=f"{title}, batch {arms[0].x:.0f} (ms per step)", xlim=(0, longest * 1.15)
            )
            axes.set_ylim(len(arms) - 0.4, -1.1)
            axes.grid(visible=False, axis="y")
