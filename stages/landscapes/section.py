"""The report's section on landscapes (12.1): findings and figures."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lab.core.files import read_json, read_rows
from lab.report import figures
from lab.report.language import say
from lab.report.page import Figure, Section, TryThis
from lab.results.curves import Curve, curves_of
from stages.landscapes import names

Demos = dict[str, dict[str, Curve]]


def section(folder: Path) -> Section:
    """The section of `folder` (reports/landscapes)."""
    demos, m = curves_of(read_rows(folder / "rows.csv")), read_json(folder / "metrics.json")
    synthetic = (
        " " + say("These rows of the airfoil table are SYNTHETIC.")
        if m["airfoil"] == "synthetic"
        else ""
    )
    return Section(
        stage="landscapes",
        title=say("What is minimised, and what gets in the way"),
        book="12.1",
        question=say(
            "Is the minimum of the empirical risk the one we want, and where do optimizers get"
            " stuck?"
        ),
        findings=_findings(demos, m),
        figures=[
            Figure(
                "risk",
                say("Risk and empirical risk with their minima marked."),
                say("The book's two functions (12.1.1), each minimum found numerically."),
                partial(_draw_risk, demos),
            ),
            Figure(
                "argmin_gap",
                say("Distance of the minimisers and excess risk fall with the sample size."),
                say(
                    "A real empirical risk: minimiser of a sample against minimiser of the"
                    " expectation. Bands hold the middle half of the samples."
                ),
                partial(_draw_gap, demos),
            ),
            Figure(
                "overfitting",
                say("Training error falls with descent while the error on other rows rises."),
                say(
                    "Descent on a few rows of the airfoil table, features and their products, half"
                    " the mean squared error. Bands hold the middle half of the seeds, each of"
                    " which splits the table anew."
                )
                + synthetic,
                partial(_draw_overfitting, demos),
            ),
            Figure(
                "shapes",
                say("A flat point of x cubed, a saddle, and the vanishing gradient of tanh."),
                say(
                    "Where gradients vanish: x³ at 0; the saddle x₁² − x₂², whose curvatures are"
                    " {high:g} and {low:g}; tanh, whose gradient at 4 is {gradient:.4f}.",
                    high=m[names.SADDLE_CURVATURES[0]],
                    low=m[names.SADDLE_CURVATURES[1]],
                    gradient=_at(demos[names.VANISHING_GRADIENT][names.TANH_GRADIENT], 4),
                ),
                partial(_draw_shapes, demos),
            ),
            Figure(
                "saddles",
                say("Negative eigenvalues against dimension, and steps to leave a saddle."),
                say(
                    "Left: random symmetric matrices. Right: first step with |x₂| > 1 against the"
                    " start's distance from the line on which the saddle holds gradient descent."
                ),
                partial(_draw_saddles, demos),
            ),
        ],
        try_this=TryThis(
            "landscapes.saddle_noise", "0.0001", say("see how little noise breaks a tie")
        ),
    )


def _findings(demos: Demos, m: dict[str, Any]) -> list[str]:
    gap = demos[names.ARGMIN_GAP][names.DISTANCE]
    risk, empirical = (demos[names.RISK_MINIMA][n] for n in (names.RISK, names.EMPIRICAL_RISK))
    spectrum, escape = demos[names.NEGATIVE_EIGENVALUES], demos[names.SADDLE_ESCAPE]
    minima = spectrum[names.WITHOUT_NEGATIVE]
    return [
        say(
            "The book's risk has its minimum {risk:.4f} at x = {x:.4f}, its empirical risk"
            " {empirical:.4f} at x = {empirical_x:.4f}. Taking the second minimiser costs"
            " {excess:.4f} of risk. The book marks both by eye, at 1.0 and 1.1.",
            risk=risk.y[0],
            x=m[names.ARGMIN_RISK],
            empirical=empirical.y[0],
            empirical_x=m[names.ARGMIN_EMPIRICAL_RISK],
            excess=m[names.EXCESS_RISK],
        ),
        say(
            "With a real empirical risk, a mean over n examples, the distance of the two minimisers"
            " shrinks as n^{exponent:.2f}: from {first:.3f} at n = {least:.0f} to {last:.4f} at n ="
            " {most:.0f} (medians). Theory says n^-0.5.",
            exponent=m[names.GAP_EXPONENT],
            first=gap.y[0],
            least=gap.x[0],
            last=gap.y[-1],
            most=gap.x[-1],
        ),
        _overfitting(demos),
        say(
            "Half the eigenvalues of a random symmetric matrix are negative in every dimension"
            " ({share:.2f} in the highest), but the share of matrices without a negative one falls"
            " from one half in dimension 1 to {minima} in 2 and on towards 0: flat points in high"
            " dimension are saddles.",
            share=spectrum[names.NEGATIVE_SHARE].y[-1],
            minima=f"{_at(minima, 2):.4g}" if 2 in minima.x else "–",
        ),
        say(
            "A saddle with one way down hides in many dimensions: {one_few:.0f} % of random"
            " directions lead down from it in {few}, {one_many:.2g} % in {many}. A random saddle"
            " does not: {random_few:.0f} % and {random_many:.0f} %.",
            few=names.FEW,
            many=names.MANY,
            one_few=_percent_down(demos, names.one_way(names.FEW)),
            one_many=_percent_down(demos, names.one_way(names.MANY)),
            random_few=_percent_down(demos, names.random_saddles(names.FEW)),
            random_many=_percent_down(demos, names.random_saddles(names.MANY)),
        ),
        say(
            "From 10⁻⁶ off the saddle of x₁² − x₂² plain gradient descent needs {gd} steps to"
            " leave, momentum {momentum}, Adam {adam}. Exactly on the line it stays, the gradient"
            " across it being 0; with noise in the gradient it leaves after {noisy} (median over"
            " seeds).",
            gd=m[names.GD_STEPS],
            momentum=f"{_at(escape[names.MOMENTUM], 1e-6):.0f}",
            adam=f"{_at(escape[names.ADAM], 1e-6):.0f}",
            noisy=f"{np.median(demos[names.NOISY_ESCAPE][names.NOISY_GD].y):.0f}",
        ),
    ]


def _overfitting(demos: Demos) -> str:
    training, others, at_best = (
        float(np.median(demos[names.OVERFITTING_ENDS][name].y))
        for name in (names.TRAINING, names.OTHERS, names.OTHERS_AT_BEST)
    )
    return say(
        "Optimisation and learning part on a few rows of the airfoil table: at the end of descent"
        " the error is {training:.3f} on them and {others:.3f} on other rows, where it had been"
        " {at_best:.3f} (medians over seeds).",
        training=training,
        others=others,
        at_best=at_best,
    )


def _percent_down(demos: Demos, series: str) -> float:
    """The median share of directions that lead down, in percent."""
    return float(100 * np.median(demos[names.WAYS_DOWN][series].y))


def _at(c: Curve, x: float) -> float:
    """The curve's value at the point nearest to x."""
    return float(c.y[np.abs(c.x - x).argmin()])


def _draw_risk(demos: Demos, path: Path) -> None:
    with figures.figure(path, 7, 3.4) as fig:
        axes = fig.add_subplot()
        axes.set(xlabel="x", ylabel="risk", xlim=(0.5, 1.5))
        figures.draw_curves(axes, list(demos[names.RISKS].values()))
        for i, (name, c) in enumerate(demos[names.RISK_MINIMA].items()):
            axes.plot(c.x, c.y, "o", color=figures.COLOURS[i])
            axes.annotate(
                f"{name}: {c.y[0]:.3f} at {c.x[0]:.3f}",
                (c.x[0], c.y[0]),
                ((14, -16), (8, -6))[i],
                textcoords="offset points",
                color=figures.COLOURS[i],
                fontsize=10,
                bbox={"facecolor": figures.PAPER, "edgecolor": "none", "pad": 1},
            )
        low = min(c.y.min() for c in demos[names.RISKS].values())
        axes.set_ylim(low - 0.15, None)


def _draw_gap(demos: Demos, path: Path) -> None:
    with figures.figure(path, 7, 3.4) as fig:
        axes = fig.add_subplot(xscale="log", yscale="log", xlabel="examples in the sample")
        curves = list(demos[names.ARGMIN_GAP].values())
        axes.set_ylim(
            min(c.low[c.low > 0].min() for c in curves) / 2, max(c.high.max() for c in curves) * 2
        )
        figures.draw_curves(axes, curves)


def _draw_overfitting(demos: Demos, path: Path) -> None:
    with figures.figure(path, 7, 3.4) as fig:
        curves = list(demos[names.OVERFITTING].values())
        axes = fig.add_subplot(
            xscale="log", yscale="log", xlabel="steps of descent", ylabel="error"
        )
        axes.set_ylim(min(c.low.min() for c in curves) / 1.2, max(c.high.max() for c in curves))
        figures.plain_ticks(axes.yaxis)
        figures.draw_curves(axes, curves)


def _draw_shapes(demos: Demos, path: Path) -> None:
    with figures.figure(path, 10, 3.2) as fig:
        flat, tanh = fig.add_subplot(1, 3, 1), fig.add_subplot(1, 3, 3)
        saddle = fig.add_subplot(1, 3, 2, projection="3d")
        c = demos[names.FLAT_POINT][names.CUBE]
        flat.plot(c.x, c.y)
        flat.plot(0, 0, "o", color=figures.COLOURS[1])
        flat.set(title="x³: flat, no minimum", xlabel="x")
        X, Y = np.meshgrid(np.linspace(-1, 1, 21), np.linspace(-1, 1, 21), indexing="ij")
        saddle.plot_wireframe(X, Y, X**2 - Y**2, rstride=2, cstride=2, linewidth=0.8)
        saddle.plot([0], [0], [0], "X", color=figures.COLOURS[1], markersize=9)
        saddle.set(
            title="x₁² − x₂²: a saddle",
            xlabel="x₁",
            ylabel="x₂",
            xticks=(-1, 0, 1),
            yticks=(-1, 0, 1),
        )
        saddle.set_zticks((-1, 0, 1))
        for i, (name, c) in enumerate(demos[names.VANISHING_GRADIENT].items()):
            tanh.plot(c.x, c.y, color=figures.COLOURS[i])
            tanh.annotate(name, (3.0, c.y[-40]), (3.0, (0.84, 0.1)[i]), color=figures.COLOURS[i])
        tanh.set(title="tanh: a vanishing gradient", xlabel="x")


def _draw_saddles(demos: Demos, path: Path) -> None:
    with figures.figure(path, 11, 3.6) as fig:
        spectrum, escape = fig.subplots(1, 2, width_ratios=(1, 1.15))
        spectrum.set(
            title="Random symmetric matrices", xlabel="dimension", xscale="log", ylim=(-0.02, 1)
        )
        share, minima = demos[names.NEGATIVE_EIGENVALUES].values()
        figures.draw_curves(spectrum, [share, minima], labels=False)
        spectrum.text(2.2, 0.6, share.series, color=figures.COLOURS[0])
        spectrum.text(2.6, 0.16, minima.series, color=figures.COLOURS[1])
        escape.set(
            title="Steps to leave the saddle",
            xlabel="distance of the start from the line x₂ = 0",
            xscale="log",
        )
        # the start on the line itself has no place on this axis
        shown = list(demos[names.SADDLE_ESCAPE].values())
        escape.set(xlim=(1.2e-1, 8e-13), ylim=(0, max(c.y[:-1].max() for c in shown) * 1.05))
        figures.draw_curves(
            escape,
            [
                replace(c, **{k: getattr(c, k)[:-1] for k in ("x", "y", "low", "high")})
                for c in shown
            ],
        )
