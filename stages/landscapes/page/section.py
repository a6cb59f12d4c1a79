"""The report's section on landscapes (12.1): findings and figures."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from lab.report import benchmarks, figures
from lab.report.language import say, section_number, superscript, translation
from lab.report.page import Figure, Section, TryThis
from lab.results.measurements import Curve, Results, curve_of
from lab.results.stats import CONFIDENCE, Ratio, median_ratio, paired_ratios

LEVELS = (0.1, 0.3, 0.5)  # of the saddle's contours; room for words is left beyond the last


def section(folder: Path) -> Section:
    """The section of `folder` (reports/landscapes)."""
    results, m = benchmarks.read(folder)
    return Section(
        stage="landscapes",
        title=say("What is minimised, and what gets in the way"),
        book="12.1",
        question=say(
            "Is the minimum of the empirical risk the one we want, and where do optimizers get"
            " stuck?"
        ),
        answer=_answer(results),
        findings=_findings(results, m),
        figures=_figures(results, m),
        try_this=TryThis(
            "landscapes.saddle_noise",
            "0.0001",
            say("If the noise is a hundred times weaker, how much longer is descent held up?"),
            say(
                "By about 48 steps, not a hundred times as long: at learning rate 0.05 the distance"
                " from the line grows by a factor of 1.1 per step, and 1.1⁴⁸ is about 100."
            ),
        ),
    )


def _figures(results: Results, m: dict[str, Any]) -> list[Figure]:
    synthetic = (
        " " + say("These rows of the airfoil table are SYNTHETIC.")
        if m["airfoil"] == "synthetic"
        else ""
    )
    return [
        Figure(
            "overfitting",
            say("Training error falls with descent while the error on other rows rises."),
            say(
                "Gradient descent on a few rows of the airfoil table. Lines: medians over the"
                " seeds, each another split of the table; bands: their middle half."
            )
            + synthetic,
            [partial(_draw_overfitting, results)],
        ),
        Figure(
            "risk",
            say("Risk and empirical risk with their minima marked."),
            say(
                "The book's two functions ({section}), each minimum found numerically.",
                section=section_number("12.1.1"),
            ),
            [partial(_draw_risk, results)],
        ),
        Figure(
            "argmin_gap",
            say("Distance of the minimisers and excess risk fall with the sample size."),
            say(
                "A real empirical risk, the mean over a sample: its minimiser against that of the"
                " risk. Lines: medians over the samples; bands: their middle half; dashed: the"
                " slope of theory."
            ),
            [
                partial(_draw_gap, results, "distance of the minimisers"),
                partial(_draw_gap, results, "excess risk"),
            ],
        ),
        Figure(
            "shapes",
            say("A flat point of x cubed, a saddle, and the vanishing gradient of tanh."),
            say(
                "Dots: the gradient is 0, yet there is no minimum. The saddle's contours stand for"
                " equal heights, solid above 0 and dashed below. At x = 4 tanh has the gradient"
                " {gradient:.4f}.",
                gradient=_at(results.curves("vanishing_gradient")["its gradient"], 4),
            ),
            [partial(_draw_flat_point, results), _draw_saddle, partial(_draw_tanh, results)],
        ),
        Figure(
            "saddles",
            say("Negative eigenvalues against dimension, and steps to leave a saddle."),
            say(
                "First: random symmetric matrices. Second: steps to leave the saddle x₁² − x₂², on"
                " whose line x₂ = 0 plain gradient descent stays forever; one run for each dot."
            ),
            [partial(_draw_spectrum, results), partial(_draw_escape, results)],
        ),
    ]


def _answer(results: Results) -> str:
    found = _price_of_the_end(results)
    return say(
        "Not quite: trained to the end, the error on new rows is {ratio:.2f} ({low:.2f} to"
        " {high:.2f}) times its best; saddles hold up only noiseless descent.",
        ratio=found.median,
        low=found.low,
        high=found.high,
    )


def _price_of_the_end(results: Results) -> Ratio:
    """The error on other rows at the end of descent over that at the best step."""
    _, others, at_best = _final_errors(results)
    return median_ratio(paired_ratios(others, at_best))


def _final_errors(results: Results) -> list[tuple[float, ...]]:
    """By seed: the errors at the end on the rows trained on and on others, and at the best step."""
    *_, training = results.series("overfitting", "rows trained on")
    *_, others = results.series("overfitting", "other rows")
    [at_best] = results.series("best_step", "other rows")
    return [training.values, others.values, at_best.values]


def _findings(results: Results, m: dict[str, Any]) -> list[str]:
    return [
        *_overfitting(results),
        *_minima(results, m),
        *_high_dimensions(results),
        *_saddle_steps(results, m),
    ]


def _overfitting(results: Results) -> list[str]:
    training, others, at_best = map(np.median, _final_errors(results))
    found = [
        say(
            "At the end of descent the error is {training:.3f} on the rows trained on and"
            " {others:.3f} on others, where it had been {at_best:.3f} (medians).",
            training=training,
            others=others,
            at_best=at_best,
        )
    ]
    price = _price_of_the_end(results)
    if price.level < CONFIDENCE:
        found.append(
            say(
                "The brackets above hold the median with {level:.0f} % only, since there are"
                " {count} seeds.",
                level=100 * price.level,
                count=price.count,
            )
        )
    return found


def _minima(results: Results, m: dict[str, Any]) -> list[str]:
    gap = _gap(results, "distance of the minimisers")
    return [
        say(
            "Taking the minimiser of the book's empirical risk, x = {empirical:.3f}, in place of"
            " {x:.3f} costs {excess:.3f} of risk.",
            empirical=m["argmin_empirical_risk"],
            x=m["argmin_risk"],
            excess=m["excess_risk"],
        ),
        say(
            "The gap between the two minimisers falls as n{exponent} (theory: n⁻⁰·⁵), from"
            " {first:.3f} at n = {least:,.0f} to {last:.4f} at n = {most:,.0f} (medians).",
            exponent=superscript(f"{m['gap_exponent']:.2f}"),
            first=gap.y[0],
            least=gap.x[0],
            last=gap.y[-1],
            most=gap.x[-1],
        ),
    ]


def _high_dimensions(results: Results) -> list[str]:
    minima = results.curves("negative_eigenvalues")["matrices without a negative one"]
    few, many = 2, 10
    return [
        say(
            "{first:.0f} % of random symmetric matrices have no negative eigenvalue in dimension"
            " {least:.0f}, {last:.2g} % in {most:.0f}: this model's critical points are nearly all"
            " saddles.",
            first=100 * minima.y[0],
            least=minima.x[0],
            last=100 * minima.y[-1],
            most=minima.x[-1],
        ),
        say(
            "From a saddle with one way down {one_few:.0f} % of random directions lead down in"
            " {few} dimensions, {one_many:.2g} % in {many}.",
            few=few,
            many=many,
            one_few=_percent_down(results, "one way down", few),
            one_many=_percent_down(results, "one way down", many),
        ),
        say(
            "From a random saddle it is {random_few:.0f} % and {random_many:.0f} %: such saddles do"
            " not hide.",
            random_few=_percent_down(results, "random", few),
            random_many=_percent_down(results, "random", many),
        ),
    ]


def _saddle_steps(results: Results, m: dict[str, Any]) -> list[str]:
    escape = results.curves("saddle_escape")
    return [
        say(
            "From 10⁻⁶ beside the saddle's line gradient descent needs {gd} steps to leave,"
            " momentum {momentum:.0f}, Adam {adam:.0f}.",
            gd=m["escape_steps_gd_from_a_millionth"],
            momentum=_at(escape["momentum 0.9"], 1e-6),
            adam=_at(escape["Adam"], 1e-6),
        ),
        say(
            "On the line itself the gradient across it is 0 and descent stays; noise in the"
            " gradient frees it after {noisy:.0f} steps (median).",
            noisy=results.curves("noisy_escape")["GD with noise"].y[0],
        ),
    ]


def _percent_down(results: Results, saddle: str, dimension: int) -> float:
    """The median share of directions that lead down, in percent."""
    [found] = results.series("ways_down", saddle, dimension=dimension)
    return 100 * found.summary.median


def _gap(results: Results, name: str) -> Curve:
    """The median over draws of n examples against n, and the band of their middle half."""
    low, middle, high = (results.curves("argmin_gap", quantile=q)[name] for q in (0.25, 0.5, 0.75))
    return replace(middle, low=low.y, high=high.y)


def _at(c: Curve, x: float) -> float:
    """The curve's value at the point nearest to x."""
    return float(c.y[np.abs(c.x - x).argmin()])


def _line(axes: Axes, c: Curve, colour: str, dashes: object = "-") -> tuple[float, float, str]:
    """Draw a curve with its band; its end and colour, for a label."""
    axes.plot(c.x, c.y, color=colour, linestyle=dashes)
    axes.fill_between(c.x, c.low, c.high, color=colour, alpha=0.18, linewidth=0)
    return float(c.x[-1]), float(c.y[-1]), colour


def _draw_overfitting(results: Results, path: Path) -> None:
    training, others = (
        results.curves("overfitting")[name] for name in ("rows trained on", "other rows")
    )
    with figures.figure(path, figures.WIDTH, 3.0) as fig:
        axes = fig.add_subplot(
            xscale="log",
            yscale="log",
            xlabel=say("steps of descent"),
            ylabel=say("half the mean squared error"),
            xlim=(training.x[0], training.x[-1]),
            ylim=(training.low.min() / 1.15, others.high.max() * 1.1),
        )
        figures.plain_ticks(axes.yaxis)
        ends = [
            (say("other rows"), *_line(axes, others, figures.COLOURS[1])),
            (say("rows trained on"), *_line(axes, training, figures.COLOURS[0], (0, (4, 2)))),
        ]
        figures.label_ends(axes, ends)
        best = int(others.y.argmin())
        axes.plot(others.x[best], others.y[best], "o", color=figures.COLOURS[1])
        axes.annotate(
            say("lowest after {steps:.0f} steps", steps=others.x[best]),
            (others.x[best], others.y[best]),
            (0, -24),
            textcoords="offset points",
            color=figures.text_colour(figures.COLOURS[1]),
        )


def _draw_risk(results: Results, path: Path) -> None:
    curves, minima = results.curves("risk"), results.curves("risk_minimum")
    with figures.figure(path, figures.WIDTH, 3.2) as fig:
        low = min(c.y.min() for c in curves.values())
        axes = fig.add_subplot(
            xlabel="x", ylabel=say("risk"), xlim=(0.5, 1.5), ylim=(low - 0.35, 0.3)
        )
        places = {  # one label in the valley, one under it
            "risk": (say("risk: {y} at x = {x:.3f}", **_minimum(minima["risk"])), -0.12),
            "empirical risk": (
                say("empirical risk: {y} at x = {x:.3f}", **_minimum(minima["empirical risk"])),
                low - 0.25,
            ),
        }
        for i, (name, (label, height)) in enumerate(places.items()):
            colour, c = figures.COLOURS[i], minima[name]
            _line(axes, curves[name], colour, ("-", (0, (4, 2)))[i])
            axes.plot(c.x, c.y, "o", color=colour)
            axes.annotate(
                label,
                (c.x[0], c.y[0]),
                (1.0, height),
                ha="center",
                va="center",
                color=figures.text_colour(colour),
                arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.8, "shrinkB": 4},
            )


def _minimum(c: Curve) -> dict[str, object]:
    """The place of a minimum, to be filled into a label."""
    return {"x": c.x[0], "y": figures.minus(f"{c.y[0]:.3f}")}


def _draw_gap(results: Results, series: str, path: Path) -> None:
    c = _gap(results, series)
    power, guide = {"distance of the minimisers": (-0.5, "1/√n"), "excess risk": (-1.0, "1/n")}[
        series
    ]
    theory = c.y[0] * (c.x / c.x[0]) ** power
    with figures.figure(path, figures.WIDTH, 2.8) as fig:
        axes = fig.add_subplot(
            xscale="log",
            yscale="log",
            title=say("distance of the minimisers (in x)")
            if series == "distance of the minimisers"
            else say("excess risk"),
            xlabel=say("examples in the sample, n"),
            xlim=(c.x[0], c.x[-1]),
            ylim=(min(c.low[c.low > 0].min(), theory[-1]) / 1.3, c.high.max() * 1.3),
        )
        if series == "distance of the minimisers":
            figures.plain_ticks(axes.yaxis)
        _line(axes, c, figures.COLOURS[0])
        axes.plot(c.x, theory, "--", color=figures.FAINT)
        figures.label_ends(axes, [(guide, c.x[-1], theory[-1], figures.FAINT)])


def _draw_flat_point(results: Results, path: Path) -> None:
    c = results.curves("flat_point")["x³"]
    with figures.figure(path, figures.WIDTH, 2.4) as fig:
        axes = fig.add_subplot(
            title=say("x³: flat at 0, but no minimum"), xlabel="x", ylabel="x³", xlim=(-2, 2)
        )
        axes.plot(c.x[::5], c.y[::5])
        axes.plot(0, 0, "o", color=figures.COLOURS[1])


def _draw_saddle(path: Path) -> None:
    """Draw contours, which are hyperbolas: points along them, not of a grid, are smooth and few."""
    t = np.linspace(-2.4, 2.4, 61)
    with figures.figure(path, figures.WIDTH, 2.4) as fig:
        axes = fig.add_subplot(
            title=say("x₁² − x₂²: a saddle at 0"),
            xlabel="x₁",
            ylabel="x₂",
            xlim=(-1, 1),
            ylim=(-1, 1),
        )
        for level in LEVELS:
            near, far = level**0.5 * np.cosh(t), level**0.5 * np.sinh(t)
            for sign in (-1, 1):
                axes.plot(sign * near, far, color=figures.COLOURS[0], linewidth=1.2)
                axes.plot(far, sign * near, "--", color=figures.COLOURS[1], linewidth=1.2)
        axes.plot([-1, 1, np.nan, -1, 1], [-1, 1, np.nan, 1, -1], color=figures.FAINT, linewidth=1)
        axes.plot(0, 0, "o", color=figures.COLOURS[1])
        words = {(-0.86, 0.0): say("higher"), (0.86, 0.0): say("higher")}
        words |= {(0.0, -0.87): say("lower"), (0.0, 0.87): say("lower")}
        for (x, y), word in words.items():
            colour = figures.COLOURS[0 if x else 1]
            axes.text(x, y, word, ha="center", va="center", color=figures.text_colour(colour))
        axes.grid(visible=False)


def _draw_tanh(results: Results, path: Path) -> None:
    shown = results.curves("vanishing_gradient")
    with figures.figure(path, figures.WIDTH, 2.4) as fig:
        axes = fig.add_subplot(
            title=say("tanh: a vanishing gradient"), xlabel="x", xlim=(-2, 5), ylim=(-1.05, 1.1)
        )
        ends = [
            ("tanh x", *_line(axes, shown["tanh(x)"], figures.COLOURS[0])),
            (
                say("its gradient"),
                *_line(axes, shown["its gradient"], figures.COLOURS[1], (0, (4, 2))),
            ),
        ]
        figures.label_ends(axes, ends)
        axes.set_ylabel(say("height"))


def _draw_spectrum(results: Results, path: Path) -> None:
    share, minima = (
        curve_of(results.series("negative_eigenvalues", name), 100)
        for name in ("share of negative eigenvalues", "matrices without a negative one")
    )
    with figures.figure(path, figures.WIDTH, 2.9) as fig:
        axes = fig.add_subplot(
            title=say("Random symmetric matrices"),
            xlabel=say("dimension"),
            ylabel=say("share (%)"),
            xscale="log",
            xlim=(share.x[0], share.x[-1]),
            ylim=(-2, 60),
        )
        figures.plain_ticks(axes.xaxis)
        _line(axes, share, figures.COLOURS[0])
        _line(axes, minima, figures.COLOURS[1], (0, (4, 2)))
        right: dict[str, Any] = {"transform": axes.get_yaxis_transform(), "ha": "right"}
        for height, label, colour in (
            (53, say("eigenvalues that are negative"), figures.COLOURS[0]),
            (4, say("matrices without a negative eigenvalue"), figures.COLOURS[1]),
        ):
            axes.text(0.98, height, label, color=figures.text_colour(colour), **right)


def _draw_escape(results: Results, path: Path) -> None:
    labels = {
        "GD": say("plain descent"),
        "GD with noise": say("with noise"),
        "momentum 0.9": say("with momentum"),
        "Adam": translation("Adam"),
    }
    shown = {  # from far to near; the start on the line itself has no place on this axis
        name: curve_of([m for m in reversed(results.series("saddle_escape", name)) if m.x > 0])
        for name in labels
    }
    with figures.figure(path, figures.WIDTH, 2.9) as fig:
        axes = fig.add_subplot(
            title=say("Leaving the saddle"),
            # in two lines, or it would be wider than the axes
            xlabel="\n".join(
                [say("distance of the start from the line x₂ = 0"), say("(nearer to the right)")]
            ),
            ylabel=say("steps until |x₂| > 1"),
            xscale="log",
            xlim=(1.2e-1, 8e-13),
            ylim=(0, max(c.y.max() for c in shown.values()) * 1.05),
        )
        figures.label_ends(axes, list(_escape_lines(axes, shown, labels)), gap=0.095)


def _escape_lines(
    axes: Axes, shown: dict[str, Curve], labels: dict[str, str]
) -> Sequence[tuple[str, float, float, str]]:
    """Draw each rule's steps, and give their labels."""
    ends = []
    for i, (name, c) in enumerate(shown.items()):
        x, y, colour = _line(axes, c, figures.COLOURS[i])
        axes.plot(c.x, c.y, "os^D"[i], color=colour, markersize=3.5)
        ends.append((labels[name], x, y, colour))
    return ends
