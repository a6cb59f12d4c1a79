"""The report's section on update rules (12.3 to 12.10): findings, figures, and a table."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lab.core.files import read_json, read_rows
from lab.report import benchmarks, figures
from lab.report.language import say
from lab.report.page import Figure, Section, Table, TryThis
from lab.results.curves import Curve, curves_of
from stages.optimizers import names

Demos = dict[str, dict[str, Curve]]

# What a port of the book prints as the final loss of its airfoil runs, from one seed each.
PUBLISHED_LOSSES = {
    names.MOMENTUM_05_002: 0.2455,
    names.ADAGRAD_01: 0.2437,
    names.concise(names.ADAGRAD_01): 0.2431,
    names.ADAM_001: 0.2454,
    names.concise(names.ADAM_001): 0.2421,
}
BOOK_START_DEGREES = float(np.degrees(np.arctan2(-2, -5))) % 360


def section(folder: Path) -> Section:
    """The section of `folder` (reports/optimizers)."""
    demos, m = curves_of(read_rows(folder / "rows.csv")), read_json(folder / "metrics.json")
    synthetic = (
        " " + say("The airfoil table here is SYNTHETIC.") if m["airfoil"] == "synthetic" else ""
    )
    return Section(
        stage="optimizers",
        title=say("Which update rule is better?"),
        book=say("12.3 to 12.10"),
        question=say(
            "When does a ranking of optimizers mean something, and when is it an accident of rate,"
            " start or axes?"
        ),
        findings=_findings(demos, m),
        figures=[
            Figure(
                "traces",
                say("Twenty-step traces of eight rules on the book's quadratic, from (-5, -2)."),
                say(
                    "0.1 x₁² + 2 x₂² from (−5, −2), 20 steps, the notes' rates. Final points stand"
                    " in each panel; GD at 0.6 leaves the picture because its rate is over 2/λ ="
                    " 0.5."
                ),
                partial(_draw_traces, demos),
            ),
            Figure(
                "starts",
                say(
                    "Value after 20 steps against the direction of the start, on the axes and"
                    " turned."
                ),
                say(
                    "The same quadratic from all around, at the notes' distance from the minimum:"
                    " as it stands, and turned by 45 degrees. The dotted line is the book's own"
                    " start."
                ),
                partial(_draw_starts, demos),
            ),
            Figure(
                "stability",
                say(
                    "Measured growth per step of momentum, with the bound 2 + 2 beta, and the decay"
                    " of four curvatures."
                ),
                say(
                    "Left: factor per step by which momentum grows (over 1) or shrinks, measured;"
                    " white: where it passes 1; dashed: 2 + 2β. Right: gradient descent at rate 0.1"
                    " for four curvatures; 1 − 0.1 · 19 is −0.9."
                ),
                partial(_draw_stability, demos),
            ),
            Figure(
                "airfoil",
                say(
                    "Excess over the exact minimum of the notes' airfoil runs, and descent at the"
                    " best rates."
                ),
                say(
                    "Left: the notes' runs, the book's and a few beside them, loss above the"
                    " minimum after their last epoch, median and middle half of the seeds. Right:"
                    " every rule at the best rate of its sweep, which other seeds have chosen;"
                    " bands hold the middle half of the seeds."
                )
                + synthetic,
                partial(_draw_airfoil, demos),
            ),
            Figure(
                "airfoil_rates",
                say("Final excess against the rate for nine rules."),
                say(
                    "Two epochs at every rate. A line ends where all seeds diverged; bands hold the"
                    " middle half of the seeds. The dashed line is 2/λmax, the bound for gradient"
                    " descent."
                )
                + synthetic,
                partial(_draw_rates, demos, m),
            ),
            Figure(
                "separating",
                say("Descent of every rule on an ill-conditioned and on a sparse problem."),
                say(
                    "Two regressions on which rules do differ, each rule at the best rate of its"
                    " sweep, which other seeds have chosen; bands hold the middle half of the"
                    " seeds. Left: 20 features whose scales fall to a thirtieth. Right: 60"
                    " features, the j-th present in one row of j."
                ),
                partial(_draw_separating, demos),
            ),
            Figure(
                "rare_features",
                say("Errors of common and of rare features' weights under four rates."),
                say(
                    "Sparse regression, each arm at its best rate, which other seeds have chosen:"
                    " squared error of the weights over that of the start, by how many rows have"
                    " the feature. Bands hold the middle half of the seeds."
                ),
                partial(_draw_rare, demos),
            ),
            Figure(
                "lenet_rules",
                say("LeNet's accuracy after a short budget against the rate, and time of a step."),
                say(
                    "Left: LeNet from a scaled start (He et al. 2015), one seed, the same batches"
                    " for all. One seed: read the shape, not the third digit. Right: a training"
                    " step of LeNet on 256 images with torch's optimizers; a dot for each start of"
                    " the process."
                )
                + " "
                + benchmarks.trust(m),
                partial(_draw_lenet, demos),
            ),
        ],
        tables=[_airfoil_table(demos, m)],
        try_this=TryThis("optimizers.num_seeds", "100", say("watch the bands of the airfoil runs")),
    )


def _findings(demos: Demos, m: dict[str, Any]) -> list[str]:
    minimum = m[names.AIRFOIL_MINIMUM]
    losses = {series: minimum + c.y[-1] for series, c in demos[names.NOTES_RUNS].items()}
    finite = [loss for loss in losses.values() if np.isfinite(loss)]
    spread = list(demos[names.NOTES_RUNS].values())
    overlapping = sum(_overlap(a, b) for i, a in enumerate(spread) for b in spread[:i])
    boundary = demos[names.BOUNDARY]
    error = np.abs(boundary[names.MEASURED].y - boundary[names.BOUND].y).max()
    return [
        say(
            "After 20 steps AdaGrad at rate 0.4 is still at x₁ = {adagrad:.3f}, plain GD at 0.4 at"
            " {gd:.3f}. At rate 2 AdaGrad does end lower than GD at 0.4 from {straight:.0f} % of"
            " all directions, so that is no accident of the start; but turn the quadratic by 45"
            " degrees and it does from {turned:.0f} % only. What helps AdaGrad here is that the"
            " axes are the eigenvectors.",
            adagrad=demos[names.TRACE][names.ADAGRAD_04].x[-1],
            gd=demos[names.TRACE][names.GD_04].x[-1],
            straight=m[names.ADAGRAD_LOWER_PERCENT[0]],
            turned=m[names.ADAGRAD_LOWER_PERCENT[45]],
        ),
        say(
            "AdaGrad's sum of squared gradients grows as the step to the power {growth:.2f} on the"
            " airfoil regression (fitted after step 300), so its rate falls with the power"
            " {rate:.2f}; the notes say 1 and −1/2.",
            growth=_median(demos, names.ADAGRAD_STATE, names.EXPONENT),
            rate=-_median(demos, names.ADAGRAD_STATE, names.EXPONENT) / 2,
        ),
        say(
            "Momentum is stable up to lr λ = 2 + 2β: the measured boundary is within {error:.0e} of"
            " it for β from 0 to 0.95.",
            error=max(error, 1e-6),
        ),
        say(
            "On the airfoil regression all {runs} runs, the notes', the book's and a few beside"
            " them, end between {least:.4f} and {most:.4f}; the exact minimum is {minimum:.6f}. In"
            " {overlapping} of {pairs} pairs the middle halves of the seeds overlap: one run of"
            " each, as the notes have it, cannot rank them.",
            runs=len(finite),
            least=min(finite),
            most=max(finite),
            minimum=minimum,
            overlapping=overlapping,
            pairs=len(spread) * (len(spread) - 1) // 2,
        ),
        say(
            "The notes lower momentum's rate from 0.02 (β 0.5) to 0.01 (β 0.9), which raises its"
            " effective rate lr/(1 − β) from 0.04 to 0.1; the loss ends at {before:.4f} and"
            " {after:.4f}.",
            before=losses[names.MOMENTUM_05_002],
            after=losses[names.MOMENTUM_001],
        ),
        _epsilon(demos),
        _averages(demos),
        *[
            _best(demos[names.BEST[problem]], name)
            for problem, name in (
                (names.ILL, say("ill-conditioned")),
                (names.SPARSE, say("sparse")),
            )
        ],
        _rare(demos),
        _falling(demos),
        _step(demos),
    ]


def _median(demos: Demos, demo: str, series: str) -> float:
    """Of a series by seed or by start."""
    return float(np.median(demos[demo][series].y))


def _ratio(one: Curve, other: Curve) -> float:
    """The median ratio of two series by seed, paired."""
    return float(np.median(one.y / other.y))


def _averages(demos: Demos) -> str:
    return say(
        "A running average with β = 0.9 has the variance of a mean over {number:.1f} independent"
        " gradients, not 10. Adam's second moment is at {uncorrected:.0f} % of its true value after"
        " 100 gradients, and at {corrected:.0f} % once corrected; without the correction Adam's"
        " excess on the airfoil regression is {factor:.1f} times as large (medians over seeds).",
        number=_median(demos, names.AVERAGES, names.EFFECTIVE_NUMBER),
        uncorrected=100 * _median(demos, names.AVERAGES, names.UNCORRECTED),
        corrected=100 * _median(demos, names.AVERAGES, names.CORRECTED),
        factor=_ratio(demos[names.ENDS][names.ADAM_UNCORRECTED], demos[names.ENDS][names.ADAM_001]),
    )


def _rare(demos: Demos) -> str:
    arms = (names.SGD, names.DECAYING, names.COUNTING, names.ADAGRAD)
    constant, steps, counts, adagrad = (
        100 * _median(demos, names.GROUP_ERRORS, names.of_group(arm, names.RARE)) for arm in arms
    )
    common = 100 * _median(demos, names.GROUP_ERRORS, names.of_group(names.DECAYING, names.COMMON))
    return say(
        "After two epochs of sparse regression with a rate that falls as t^-1/2, {rare:.2g} % of"
        " the rare features' error is left and {common:.2g} % of the common ones'. Of the rare"
        " ones' {counts:.2g} % is left if the rate falls with counts instead, {adagrad:.2g} % under"
        " AdaGrad, and {constant:.2g} % if it does not fall.",
        rare=steps,
        common=common,
        counts=counts,
        adagrad=adagrad,
        constant=constant,
    )


def _falling(demos: Demos) -> str:
    airfoil, ill, sparse = (
        _ratio(ends[names.SGD], ends[names.DECAYING])
        for ends in (demos[names.BEST_ENDS[problem]] for problem in names.PROBLEMS)
    )
    return say(
        "A rate that falls as t^-1/2 pays where gradients are noisy: on the airfoil regression SGD"
        " at a constant rate ends at {airfoil:.2g} times its excess. In two epochs of the problems"
        " with little noise it does not: there the factor is {ill:.2g} (ill-conditioned) and"
        " {sparse:.2g} (sparse).",
        airfoil=airfoil,
        ill=ill,
        sparse=sparse,
    )


def _step(demos: Demos) -> str:
    adagrad, sgd, alone = (
        _median(demos, names.STEP_TIME, arm)
        for arm in (names.ADAGRAD_STEP, names.SGD_STEP, names.LOSS_AND_GRADIENT)
    )
    return say(
        "A training step of LeNet on 256 images takes {adagrad:.3g} ms with torch's AdaGrad and"
        " {sgd:.3g} ms with its SGD; loss and gradient are {share:.0f} % of the first.",
        adagrad=adagrad,
        sgd=sgd,
        share=100 * alone / adagrad,
    )


def _epsilon(demos: Demos) -> str:
    inside, beside = (
        demos[names.NOTES_RUNS][name] for name in (names.ADAM_EPSILON_INSIDE, names.ADAM_001)
    )
    return say(
        "The notes say that epsilon beside Adam's root works slightly better than inside it. Here"
        " the median excess is {beside:.5f} beside and {inside:.5f} inside; the middle halves of"
        " the seeds {overlap}.",
        beside=beside.y[-1],
        inside=inside.y[-1],
        overlap=_overlap_in_words(inside, beside),
    )


def _overlap(a: Curve, b: Curve) -> bool:
    return bool(a.low[-1] <= b.high[-1] and b.low[-1] <= a.high[-1])


def _overlap_in_words(a: Curve, b: Curve) -> str:
    return say("overlap") if _overlap(a, b) else say("do not overlap")


def _best(descents: dict[str, Curve], name: str) -> str:
    curves = sorted(descents.values(), key=lambda c: np.inf if np.isnan(c.y[-1]) else c.y[-1])
    sgd = next(c for c in curves if names.rule_of(c.series) == names.SGD)
    return say(
        "On the {name} problem the rules part: {best} ends at an excess of {excess:.2g}, SGD at its"
        " own best rate at {sgd:.2g}; the middle halves of the seeds {overlap}.",
        name=name,
        best=curves[0].series,
        excess=curves[0].y[-1],
        sgd=sgd.y[-1],
        overlap=_overlap_in_words(curves[0], sgd),
    )


def _airfoil_table(demos: Demos, m: dict[str, Any]) -> Table:
    rows = []
    for name, c in demos[names.NOTES_RUNS].items():
        loss = [m[names.AIRFOIL_MINIMUM] + value for value in (c.y[-1], c.low[-1], c.high[-1])]
        published = (
            f"{PUBLISHED_LOSSES[name]:.4f}"
            if name in PUBLISHED_LOSSES and m["airfoil"] == "original"
            else "–"
        )
        rows.append(
            [
                name,
                f"{c.x[-1]:g}",
                f"{loss[0]:.4f}",
                f"{loss[1]:.4f} – {loss[2]:.4f}",
                f"{c.y[-1]:.5f}",
                published,
            ]
        )
    return Table(
        [
            say("run"),
            say("epochs"),
            say("final loss"),
            say("middle half of seeds"),
            say("excess"),
            say("published"),
        ],
        rows,
        say(
            "Loss is half the mean squared error over all 1500 rows. “Concise” is torch.optim as"
            " the notes call it, run with torch: twice the epochs, a loss without the half, so"
            " twice the gradient, torch's own start of the bias, and its own epsilon. “Published”"
            " is what a port of the book printed for one seed; a run of one seed lands anywhere in"
            " the spread, and wider."
        ),
    )


def _draw_traces(demos: Demos, path: Path) -> None:
    X1, X2 = np.meshgrid(np.linspace(-6, 2.5, 120), np.linspace(-3.2, 3.2, 90), indexing="ij")
    with figures.figure(path, 11, 5) as fig:
        panels = fig.subplots(2, 4, sharex=True, sharey=True)
        for axes, c in zip(panels.flat, demos[names.TRACE].values(), strict=True):
            axes.contour(
                X1,
                X2,
                0.1 * X1**2 + 2 * X2**2,
                levels=[0.05, 0.3, 1, 2.5, 5, 10, 18],
                colors=figures.FAINT,
                linewidths=0.7,
            )
            axes.plot(
                c.x,
                c.y,
                "o-",
                color=figures.COLOURS[1],
                markersize=3.5,
                linewidth=1.2,
                clip_on=True,
            )
            axes.plot(0, 0, "+", color=figures.COLOURS[0], markersize=10)
            axes.set(xlim=(-6, 2.5), ylim=(-3.2, 3.2))
            axes.set_title(c.series)
            axes.text(
                0.98,
                0.04,
                f"({c.x[-1]:.4g}, {c.y[-1]:.3g})",
                transform=axes.transAxes,
                ha="right",
                fontsize=9,
            )
            axes.grid(visible=False)
        for axes in panels[1]:
            axes.set_xlabel("x₁")
        for axes in panels[:, 0]:
            axes.set_ylabel("x₂")


def _draw_starts(demos: Demos, path: Path) -> None:
    with figures.figure(path, 11, 3.6) as fig:
        panels = fig.subplots(1, 2, sharey=True)
        for axes, (turned, demo) in zip(panels, names.STARTS.items(), strict=True):
            axes.set(
                yscale="log",
                ylim=(1e-9, 30),
                xlim=(0, 360),
                xlabel="direction of the start (degrees)",
            )
            axes.set_title("On its axes" if turned == 0 else "Turned by 45°")
            axes.set_xticks(range(0, 361, 90))
            axes.axvline(BOOK_START_DEGREES, color=figures.FAINT, linestyle=":")
            figures.draw_curves(axes, list(demos[demo].values()), labels=axes is panels[-1])
        panels[0].set_ylabel("value after 20 steps")


def _draw_stability(demos: Demos, path: Path) -> None:
    grid = list(demos[names.STABILITY].values())
    betas, curvatures = np.array([float(c.series) for c in grid]), grid[0].x
    growth = np.array([c.y for c in grid])
    with figures.figure(path, 11, 3.8) as fig:
        map_, decay = fig.subplots(1, 2, width_ratios=(1.25, 1))
        mesh = map_.pcolormesh(
            curvatures,
            betas,
            growth,
            cmap="cividis",
            vmin=0,
            vmax=2,
            shading="nearest",
            rasterized=True,
        )
        fig.colorbar(mesh, ax=map_, label="factor per step")
        map_.contour(curvatures, betas, growth, levels=[1.0], colors="white", linewidths=2.5)
        bound = demos[names.BOUNDARY][names.BOUND]
        map_.plot(bound.y, bound.x, "--", color=figures.COLOURS[1], linewidth=1.5)
        map_.set(
            title="Momentum on a parabola",
            xlabel="lr λ",
            ylabel="β",
            xlim=(0.05, 4),
            ylim=(0, 0.95),
        )
        map_.grid(visible=False)
        decay.set(title="GD at rate 0.1", xlabel="step", ylim=(-1, 1.05), xlim=(0, 20))
        figures.draw_curves(decay, list(demos[names.DECAY].values()))


def _draw_airfoil(demos: Demos, path: Path) -> None:
    runs = sorted(demos[names.NOTES_RUNS].values(), key=lambda c: -c.y[-1])
    with figures.figure(path, 11, 4.6) as fig:
        ends, steps = fig.subplots(1, 2, width_ratios=(1.1, 1))
        ends.set(title="The notes' runs and others", xlabel="excess at the end", xscale="log")
        for i, c in enumerate(runs):
            ends.plot(
                [c.low[-1], c.high[-1]], [i, i], color=figures.COLOURS[0], linewidth=4, alpha=0.35
            )
            ends.plot(c.y[-1], i, "o", color=figures.COLOURS[0])
        ends.set_yticks(range(len(runs)), [c.series for c in runs])
        best = list(demos[names.BEST[names.AIRFOIL]].values())
        steps.set(title="Best rates", xlabel="steps", yscale="log", ylim=(4e-4, 0.5))
        figures.draw_curves(steps, best)


def _draw_rates(demos: Demos, m: dict[str, Any], path: Path) -> None:
    with figures.figure(path, 9, 4.2) as fig:
        axes = fig.add_subplot(
            xscale="log",
            yscale="log",
            xlabel="rate",
            ylabel="excess after two epochs",
            ylim=(5e-4, 2),
        )
        axes.axvline(m[names.AIRFOIL_RATE_BOUND], color=figures.FAINT, linestyle="--")
        axes.text(m[names.AIRFOIL_RATE_BOUND], 1.25, " 2/λmax", color=figures.FAINT)
        figures.draw_curves(axes, list(demos[names.RATES[names.AIRFOIL]].values()))


def _draw_separating(demos: Demos, path: Path) -> None:
    with figures.figure(path, 12.5, 4.2) as fig:
        for axes, problem in zip(fig.subplots(1, 2), (names.ILL, names.SPARSE), strict=True):
            curves = list(demos[names.BEST[problem]].values())
            low = min(np.nanmin(c.low) for c in curves)
            axes.set(
                title="Ill-conditioned" if problem == names.ILL else "Sparse features",
                yscale="log",
                xlabel="steps",
            )
            axes.set(
                ylim=(low / 1.5, 1.5 * max(np.nanmax(c.high) for c in curves)), ylabel="excess"
            )
            figures.draw_curves(axes, curves)


def _draw_rare(demos: Demos, path: Path) -> None:
    with figures.figure(path, 8, 3.6) as fig:
        curves = [c.scaled(x=100) for c in demos[names.FEATURE_ERRORS].values()]
        axes = fig.add_subplot(
            xscale="log",
            yscale="log",
            xlabel="rows that have the feature (%)",
            ylabel="share of the error left",
            ylim=(
                min(np.nanmin(c.low) for c in curves) / 1.5,
                1.5 * max(np.nanmax(c.high) for c in curves),
            ),
        )
        figures.plain_ticks(axes.xaxis)
        figures.draw_curves(axes, curves)


def _draw_lenet(demos: Demos, path: Path) -> None:
    with figures.figure(path, 11, 3.6) as fig:
        axes, step = fig.subplots(1, 2, width_ratios=(1.3, 1))
        axes.set(xscale="log", xlabel="rate", ylabel="test accuracy (%)", ylim=(0, 100))
        curves = [c.scaled(y=100) for c in demos[names.LENET].values()]
        figures.draw_curves(axes, curves)
        for i, c in enumerate(curves):
            axes.plot(c.x, c.y, "o", color=figures.COLOURS[i])
        arms = (names.SGD_STEP, names.ADAGRAD_STEP, names.LOSS_AND_GRADIENT)
        for row, arm in enumerate(arms):
            figures.bar_with_samples(
                step, row, demos[names.STEP_TIME][arm].y.tolist(), figures.COLOURS[row]
            )
        step.set_yticks(range(len(arms)), arms)
        step.invert_yaxis()
        step.set(xlabel="ms per training step")
