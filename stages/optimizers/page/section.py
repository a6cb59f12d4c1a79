"""The report's section on update rules (12.3 to 12.10): findings, figures, and a table."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Ellipse
from numpy.typing import NDArray

from lab.report import benchmarks, figures
from lab.report.language import say, superscript, translation
from lab.report.page import Figure, Headline, Section, Table, TryThis
from lab.results.measurements import Cell, Curve, Measurement, Results, curve_of
from stages.optimizers.measure.names import (
    ADAGRAD_LOWER_PERCENT,
    COUNTING,
    DECAYING,
    PROBLEMS,
    RULES,
)
from stages.optimizers.page.explorables import quadratic, stability

Dot = tuple[str, float, float, float]  # a label, a median, and the ends of the middle half


class Run(NamedTuple):
    """An airfoil run by its columns."""

    rule: str
    rate: float
    batch_size: float = 10
    version: str = "from scratch"


# What a port of the book prints as the final loss of its airfoil runs, from one seed each.
PUBLISHED_LOSSES = {
    Run("momentum 0.5", 0.02): 0.2455,
    Run("AdaGrad", 0.1): 0.2437,
    Run("AdaGrad", 0.1, version="concise"): 0.2431,
    Run("Adam", 0.01): 0.2454,
    Run("Adam", 0.01, version="concise"): 0.2421,
}
HALF_TURN = 180  # degrees: a start and the one across from it end at the same value
BOOK_START_DEGREES = float(np.degrees(np.arctan2(-2, -5))) % HALF_TURN
LEAST_SHOWN = 1e-9  # of values after 20 steps
SHOWN_BETAS = (0, 0.5, 0.9)
TRACES = (
    *(("GD", 0.4), ("GD", 0.6), ("momentum 0.5", 0.6), ("momentum 0.25", 0.6)),
    *(("AdaGrad", 0.4), ("AdaGrad", 2), ("RMSProp", 0.4), ("Adam", 0.4)),
)
ONE_FOR_ALL = ("SGD", "momentum 0.9", "Nesterov 0.9")  # weights: one rate
DASHES = ("-", (0, (4, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (2, 2)), (0, (8, 2)))


def section(folder: Path) -> Section:
    """The section of `folder` (reports/optimizers)."""
    results, m = benchmarks.read(folder)
    return Section(
        stage="optimizers",
        title=say("Which update rule is better?"),
        book=say("12.3 to 12.10"),
        question=say(
            "When does a ranking of optimizers mean something, and when is it an accident of"
            " learning rate, start or axes?"
        ),
        answer=_answer(results, m),
        headline=_headline(results, m),
        findings=_findings(results, m),
        figures=[
            *_figures_of_rankings(results, m),
            *_figures_of_quadratics(results),
            *_figures_of_lenet(results, m),
        ],
        tables=[_airfoil_table(results, m)],
        explorables=[quadratic(), stability()],
        try_this=TryThis(
            "optimizers.num_seeds",
            "100",
            say("Would a hundred seeds pull the bars of the airfoil runs apart?"),
            say(
                "No: more seeds place the ends of a bar more exactly but do not shorten it, since"
                " it holds the middle half of them. What they narrow down is the median."
            ),
        ),
        of_times=False,
    )


def _figures_of_rankings(results: Results, m: Mapping[str, Any]) -> list[Figure]:
    synthetic = (
        " " + say("The airfoil table here is SYNTHETIC.") if m["airfoil"] == "synthetic" else ""
    )
    return [
        Figure(
            "starts",
            say("Value after 20 steps against the direction of the start, on the axes and turned."),
            say(
                "f = 0.1 x₁² + 2 x₂² after 20 steps from all directions, at the notes' distance"
                " from the minimum; numbers after names are learning rates. Shaded: AdaGrad at 2"
                " ends below gradient descent at 0.4. Values under 10⁻⁹ are cut off."
            ),
            [partial(_draw_starts, results, m, turned) for turned in ADAGRAD_LOWER_PERCENT],
        ),
        Figure(
            "airfoil",
            say("Excess loss of the notes' airfoil runs and a few beside them."),
            say(
                "The notes' runs, the book's and a few beside them: how far the loss ends above the"
                " exact minimum. Dots: medians over the seeds; bars: their middle half; lr:"
                " learning rate."
            )
            + synthetic,
            [partial(_draw_airfoil, results)],
        ),
        Figure(
            "best_rates",
            say("Excess loss of nine rules on three regressions, each at its best learning rate."),
            say(
                "Each rule at its best learning rate (lr), which other seeds have chosen, on three"
                " regressions with the same scale; the diamond is the lowest. Ill-conditioned: 20"
                " features, scaled down to a thirtieth. Sparse: 60 features, the j-th in one row"
                " of j."
            )
            + synthetic,
            [partial(_draw_best, results, problem) for problem in PROBLEMS],
        ),
        Figure(
            "airfoil_rates",
            say("Final excess against the learning rate for nine rules."),
            say(
                "The airfoil regression, two epochs at every learning rate. A line ends where all"
                " seeds diverged; bands hold their middle half; dashed: 2/λmax, the bound of"
                " gradient descent. Momentum and Nesterov, Adam and AdamW nearly coincide."
            )
            + synthetic,
            [partial(_draw_rates, results, m, True), partial(_draw_rates, results, m, False)],
        ),
        Figure(
            "rare_features",
            say("Errors of common and of rare features' weights under four learning rates."),
            say(
                "Sparse regression, each variant at its best learning rate, which other seeds have"
                " chosen: what is left of the weights' squared error at the start. Bands hold the"
                " middle half of the seeds."
            ),
            [partial(_draw_rare, results)],
        ),
    ]


def _figures_of_quadratics(results: Results) -> list[Figure]:
    return [
        Figure(
            "traces",
            say("Twenty-step traces of eight rules on the book's quadratic, from (−5, −2)."),
            say(
                "f = 0.1 x₁² + 2 x₂², 20 steps from (−5, −2) at the notes' learning rates; the"
                " arrow names where they end. Gradient descent at 0.6 leaves the picture: 0.6 is"
                " over 2/λ = 0.5."
            ),
            [partial(_draw_traces, results)],
        ),
        Figure(
            "stability",
            say("Measured growth per step of momentum, and the decay along four curvatures."),
            say(
                "First: by which factor a step of momentum multiplies the distance, measured; above"
                " 1 it diverges, which the dots put at lr λ = 2 + 2β. Second: gradient descent at"
                " learning rate 0.1; λ = 19 gives 1 − 0.1 · 19 = −0.9 per step."
            ),
            [partial(_draw_stability, results), partial(_draw_decay, results)],
        ),
    ]


def _figures_of_lenet(results: Results, m: Mapping[str, Any]) -> list[Figure]:
    return [
        Figure(
            "lenet",
            say("Test accuracy of LeNet after a short budget against the learning rate."),
            say(
                "LeNet from a scaled start (He et al. 2015), one seed and the same batches for all:"
                " read the shape, not the third digit."
            ),
            [partial(_draw_lenet, results)],
        ),
        *([] if benchmarks.undecided(m, "optimizers") else [_figure_of_times(results, m)]),
    ]


def _figure_of_times(results: Results, m: Mapping[str, Any]) -> Figure:
    return Figure(
        "step_time",
        say("Time of a training step of LeNet with torch's optimizers."),
        say("A bar is the median; a dot is a start of the process, in the order of measuring.")
        + " "
        + " ".join(benchmarks.trust(m)),
        [partial(_draw_step_time, results, m)],
    )


# --- sentences ---


def _answer(results: Results, m: Mapping[str, Any]) -> str:
    overlapping, pairs = _overlapping_pairs(results)
    return say(
        "Axes decide: AdaGrad beats gradient descent from {straight:.0f} % of starts, rotated by"
        " 45° from {turned:.0f} %; of {pairs} pairs of airfoil runs {overlapping} overlap.",
        straight=m[ADAGRAD_LOWER_PERCENT[0]],
        turned=m[ADAGRAD_LOWER_PERCENT[45]],
        pairs=pairs,
        overlapping=overlapping,
    )


def _headline(results: Results, m: Mapping[str, Any]) -> Headline:
    straight, turned = (m[metric] for metric in ADAGRAD_LOWER_PERCENT.values())
    directions = len(results.series("starts", "GD", turned=0))
    return Headline(
        f"{straight:.0f} % → {turned:.0f} %",
        say("of {directions} starting directions", directions=directions),
        say(
            "let AdaGrad beat gradient descent: before the quadratic is rotated by 45°, and after."
        ),
    )


def _findings(results: Results, m: Mapping[str, Any]) -> list[str]:
    return [
        *_start_and_axes(results),
        _single_runs(results, m),
        *[
            _best(results, problem, name)
            for problem, name in (("ill", say("ill-conditioned")), ("sparse", say("sparse")))
        ],
        *_falling(results),
        _rare(results),
        *_momentum(results, m),
        _growth(results),
        _without_momentum(results),
        _from_first_gradient(results),
        benchmarks.undecided(m, "optimizers") or _step(results),
    ]


def _overlapping_pairs(results: Results) -> tuple[int, int]:
    """How many pairs of the airfoil runs' middle halves overlap, and how many there are."""
    runs = list(_airfoil_runs(results).values())
    found = [_overlap(a, b) for i, a in enumerate(runs) for b in runs[:i]]
    return sum(found), len(found)


def _start_and_axes(results: Results) -> list[str]:
    adagrad, gd = (
        results.curves("trace", rate=0.4, coordinate="x1")[rule].y[-1] for rule in ("AdaGrad", "GD")
    )
    return [
        say(
            "From the notes' start AdaGrad at 0.4 is still at x₁ = {adagrad} after 20 steps,"
            " gradient descent at {gd}.",
            adagrad=figures.minus(f"{adagrad:.3f}"),
            gd=figures.minus(f"{gd:.3f}"),
        ),
        say(
            "Once rotated, the coordinates are no longer the Hessian's eigenvectors, and AdaGrad's"
            " learning rates, one per coordinate, fit no curvature."
        ),
    ]


def _airfoil_runs(results: Results) -> dict[Run, Curve]:
    """The excess of each of the notes' runs against epochs."""
    found: dict[Run, list[Measurement]] = {}
    for m in results.measurements:
        if m.experiment == "airfoil_runs" and m.columns["version"] != "torch's optimizer":
            rate, batch_size, version = (m.columns[k] for k in ("rate", "batch_size", "version"))
            run = Run(m.variant, float(rate), float(batch_size), str(version))
            found.setdefault(run, []).append(m)
    return {run: curve_of(series) for run, series in found.items()}


def _losses(results: Results, m: Mapping[str, Any]) -> dict[Run, float]:
    """The median loss in which each airfoil run ends."""
    runs = _airfoil_runs(results).items()
    return {run: float(m["airfoil_minimum"] + c.y[-1]) for run, c in runs}


def _single_runs(results: Results, m: Mapping[str, Any]) -> str:
    finite = [loss for loss in _losses(results, m).values() if np.isfinite(loss)]
    return say(
        "All {runs} airfoil runs end between {least:.4f} and {most:.4f}, the exact minimum being"
        " {minimum:.4f}: single runs, as in the notes, cannot tell neighbours apart.",
        runs=len(finite),
        least=min(finite),
        most=max(finite),
        minimum=m["airfoil_minimum"],
    )


def _overlap(a: Curve, b: Curve) -> bool:
    return bool(a.low[-1] <= b.high[-1] and b.low[-1] <= a.high[-1])


def _best(results: Results, problem: str, name: str) -> str:
    curves = {rule: _at_best_rate(results, problem, rule) for rule in RULES}
    best = min(RULES, key=lambda rule: np.nan_to_num(curves[rule].y[-1], nan=np.inf))
    sgd = curves["SGD"]
    values = {
        "name": name,
        "best": _rule(best),
        "excess": _plain(curves[best].y[-1]),
        "sgd": _plain(sgd.y[-1]),
    }
    if _overlap(curves[best], sgd):
        return say(
            "On the {name} problem {best} ends at an excess of {excess}, SGD at {sgd}; their"
            " interquartile ranges over the seeds overlap.",
            **values,
        )
    return say(
        "On the {name} problem the optimizers separate: {best} ends at an excess of {excess}, SGD"
        " at {sgd}; their interquartile ranges do not overlap.",
        **values,
    )


def _falling(results: Results) -> list[str]:
    airfoil, ill, sparse = (
        _plain(_median_ratio(results, "best_rate", "SGD", DECAYING, problem=problem))
        for problem in PROBLEMS
    )
    return [
        say(
            "Where gradients are noisy, on airfoil, a constant learning rate ends with {airfoil}"
            " times the excess of one that falls as t⁻⁰·⁵.",
            airfoil=airfoil,
        ),
        say(
            "Where there is little noise, two epochs give {ill} times the excess (ill-conditioned)"
            " and {sparse} times (sparse).",
            ill=ill,
            sparse=sparse,
        ),
    ]


def _samples(
    results: Results, experiment: str, variant: str, x: float | None = None, **columns: Cell
) -> NDArray[np.float64]:
    """Of one measurement: a value of each seed, or of each fresh process.

    Raises:
        ValueError: there is none, or several.
    """
    series = results.series(experiment, variant, **columns)
    [found] = [m for m in series if x in (None, m.x)]
    return np.array(found.values)


def _median_ratio(
    results: Results, experiment: str, old: str, new: str, x: float | None = None, **columns: Cell
) -> float:
    """Of two variants, paired by seed."""
    a, b = (_samples(results, experiment, variant, x, **columns) for variant in (old, new))
    return float(np.median(a / b))


def _rare(results: Results) -> str:
    steps, counts, adagrad = (
        _plain(100 * np.median(_samples(results, "group_errors", variant, features="rare")))
        for variant in (DECAYING, COUNTING, "AdaGrad")
    )
    return say(
        "Of rare features' error {steps} % is left when the learning rate falls with steps,"
        " {counts} % when with counts, {adagrad} % with AdaGrad.",
        steps=steps,
        counts=counts,
        adagrad=adagrad,
    )


def _momentum(results: Results, m: Mapping[str, Any]) -> list[str]:
    boundary, losses = results.curves("stability_boundary"), _losses(results, m)
    error = float(np.abs(boundary["measured"].y - boundary["2 + 2β"].y).max())
    return [
        say(
            "Momentum is stable up to lr λ = 2 + 2β: for β from 0 to 0.95 the measured boundary is"
            " within {error} of it.",
            error=_plain(max(error, 1e-6), digits=1),
        ),
        say(
            "Momentum at 0.02 with β = 0.5 ends at {before:.4f}, at 0.01 with β = 0.9 at"
            " {after:.4f}: lr/(1 − β) rises.",
            before=losses[Run("momentum 0.5", 0.02)],
            after=losses[Run("momentum 0.9", 0.01)],
        ),
    ]


def _growth(results: Results) -> str:
    exponent = float(np.median(_samples(results, "adagrad_state", "growth exponent")))
    return say(
        "AdaGrad's sum of squared gradients grows as t{growth} on airfoil, its learning rate as"
        " t{rate}; the notes say t and t⁻⁰·⁵.",
        growth=superscript(f"{exponent:.2f}"),
        rate=superscript(f"{-exponent / 2:.2f}"),
    )


def _without_momentum(results: Results) -> str:
    correction = "bias_correction", "RMSProp", "Adam without momentum"
    short, long = (
        _plain(_median_ratio(results, *correction, x=2, decay=decay), 3) for decay in (0.9, 0.999)
    )
    return say(
        "At a decay of 0.999 RMSProp ends with {long} times the excess of Adam without momentum,"
        " at 0.9 with {short} times. RMSProp does not correct its average for the start at 0, which"
        " a decay of 0.9 soon forgets.",
        long=long,
        short=short,
    )


def _from_first_gradient(results: Results) -> str:
    correction = "bias_correction", "Adam from the first gradient", "Adam"
    early, late = (_plain(_median_ratio(results, *correction, x=epochs), 3) for epochs in (2, 4))
    return say(
        "Adam whose averages start at the first gradient has {early} times the excess of corrected"
        " Adam after two epochs, {late} times after four. In its average of squares, of decay"
        " 0.999, that one batch has {weight:.0f} % of the weight after two.",
        early=early,
        late=late,
        weight=100 * 0.999**299,
    )


def _step(results: Results) -> str:
    adagrad, sgd, alone = (
        np.median(_samples(results, "step_time", variant))
        for variant in ("step with AdaGrad", "step with SGD", "loss and gradient only")
    )
    return say(
        "A LeNet step on 256 images takes {adagrad:.3g} ms with torch's AdaGrad, {sgd:.3g} ms with"
        " its SGD; loss and gradient take {alone:.3g} ms.",
        adagrad=adagrad,
        sgd=sgd,
        alone=alone,
    )


# --- names and numbers ---


def _rule(name: str) -> str:
    """An update rule as the page calls it."""
    words = {
        "GD": say("GD"),
        "Nesterov 0.9": say("Nesterov {beta}", beta=0.9),
        **{f"momentum {beta}": say("momentum {beta}", beta=beta) for beta in (0.25, 0.5, 0.9)},
    }
    return words.get(name) or translation(name)


def _at_rate(rule: str, rate: str) -> str:
    return say(", ").join([_rule(rule), say("lr {rate}", rate=rate)])


def _run(run: Run) -> str:
    """A run as the page calls it: its rule and its settings."""
    batch = [say("batch {size}", size=f"{run.batch_size:g}")] if run.rule == "SGD" else []
    rate = "ρ 0.9" if run.rule == "Adadelta" else say("lr {rate}", rate=f"{run.rate:g}")
    version = {
        "from scratch": [],
        "epsilon inside": [say("ε inside")],
        "uncorrected": [say("uncorrected")],
        "concise": ["torch"],
    }[run.version]
    return say(", ").join([_rule(run.rule), *batch, rate, *version])


def _plain(number: float, digits: int = 2) -> str:
    """A number of few digits, never as a power of ten."""
    text = np.format_float_positional(number, precision=digits, fractional=False, trim="-")
    return figures.minus(text)


def _coordinate(x: float) -> str:
    """Where a trace ends: three digits, and 0 for what is nearly so."""
    return "0" if abs(x) < 5e-4 else _plain(x, digits=3)


# --- the table ---


def _airfoil_table(results: Results, m: Mapping[str, Any]) -> Table:
    rows = []
    for run, c in _airfoil_runs(results).items():
        loss = [m["airfoil_minimum"] + value for value in (c.y[-1], c.low[-1], c.high[-1])]
        published = (
            f"{PUBLISHED_LOSSES[run]:.4f}"
            if run in PUBLISHED_LOSSES and m["airfoil"] == "original"
            else "–"
        )
        rows.append(
            [
                _run(run),
                f"{c.x[-1]:g}",
                f"{loss[0]:.4f}",
                f"{loss[1]:.4f} – {loss[2]:.4f}",
                published,
            ]
        )
    return Table(
        [
            say("airfoil run"),
            say("epochs"),
            say("final loss"),
            say("middle half of seeds"),
            say("published"),
        ],
        rows,
        say(
            "Loss: half the mean squared error over all 1500 rows. “torch”: the notes' concise runs"
            " with torch.optim, whose loss lacks the half, and with torch's own start of the bias"
            " and epsilon. “Published”: printed by a port of the book for one seed."
        ),
    )


# --- figures ---


def _line(axes: Axes, c: Curve, place: int, label: str = "") -> tuple[float, float, str]:
    """Draw a curve with its band in the style of its place; its last number's point and colour."""
    colour = figures.COLOURS[place]
    axes.plot(c.x, c.y, color=colour, linestyle=DASHES[place], label=label or None)
    axes.fill_between(c.x, c.low, c.high, color=colour, alpha=0.15, linewidth=0)
    finite = np.flatnonzero(np.isfinite(c.y))
    last = finite[-1] if len(finite) else 0
    return float(c.x[last]), float(c.y[last]), colour


def _draw_starts(results: Results, m: Mapping[str, Any], turned: int, path: Path) -> None:
    found = {
        (rule, rate): curve_of(results.series("starts", rule, rate=rate, turned=turned))
        for rule, rate in (("GD", 0.4), ("AdaGrad", 0.4), ("AdaGrad", 2))
    }
    half = found["GD", 0.4].x < HALF_TURN
    x = found["GD", 0.4].x[half]
    values = {run: c.y[half] for run, c in found.items()}
    percent = m[ADAGRAD_LOWER_PERCENT[turned]]
    with figures.figure(path, figures.WIDTH, 2.9) as fig:
        axes = fig.add_subplot(
            title=say("Rotated by 45°: AdaGrad 2 wins from {percent:.0f} %", percent=percent)
            if turned
            else say("On its axes: AdaGrad 2 wins from {percent:.0f} %", percent=percent),
            yscale="log",
            xlim=(0, HALF_TURN),
            ylim=(LEAST_SHOWN, 50),
            xlabel=say("direction of the start (degrees)"),
            ylabel=say("f after 20 steps"),
        )
        axes.set_xticks(range(0, HALF_TURN + 1, 45))
        axes.fill_between(
            x,
            0,
            1,
            where=list(values["AdaGrad", 2] < values["GD", 0.4]),
            transform=axes.get_xaxis_transform(),
            color=figures.COLOURS[2],
            alpha=0.13,
            linewidth=0,
        )
        ends = []
        for i, ((rule, rate), y) in enumerate(values.items()):
            axes.plot(x, y, color=figures.COLOURS[i], linestyle=DASHES[i])
            ends.append((f"{_rule(rule)} {rate:g}", x[-1], y[-1], figures.COLOURS[i]))
        figures.label_ends(axes, ends, gap=0.085)
        axes.axvline(BOOK_START_DEGREES, color=figures.FAINT, linewidth=1)
        axes.text(
            BOOK_START_DEGREES + 3,
            0.06 if turned else 0.52,
            say("the notes' start"),
            color=figures.FAINT_TEXT,
            transform=axes.get_xaxis_transform(),
        )


def _draw_dots(axes: Axes, dots: Sequence[Dot], best: int | None = None) -> None:
    """Draw a row for each dot, the first on top, its middle half as a bar; `best` as a diamond."""
    for i, (_, y, low, high) in enumerate(dots):
        colour = figures.COLOURS[2 if i == best else 0]
        axes.plot([low, high], [i, i], color=colour, linewidth=4, alpha=0.4)
        axes.plot(y, i, "D" if i == best else "o", color=colour)
    axes.set_yticks(range(len(dots)), [label for label, *_ in dots])
    axes.set_ylim(len(dots) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")


def _end(c: Curve, label: str, unit: float = 1.0) -> Dot:
    """Where a curve ends, in units of `unit`."""
    return label, c.y[-1] / unit, c.low[-1] / unit, c.high[-1] / unit


def _draw_airfoil(results: Results, path: Path) -> None:
    runs = sorted(_airfoil_runs(results).items(), key=lambda item: item[1].y[-1])
    dots = [_end(c, _run(run), 1e-3) for run, c in runs]
    with figures.figure(path, figures.WIDTH, 0.8 + 0.23 * len(dots)) as fig:
        axes = fig.add_subplot(
            xscale="log",
            xlim=_around([n for _, *numbers in dots for n in numbers]),
            xlabel=say("excess loss (thousandths)"),
        )
        figures.plain_ticks(axes.xaxis)
        _draw_dots(axes, dots)


def _around(values: Sequence[float]) -> tuple[float, float]:
    """The limits of a logarithmic axis."""
    finite = [value for value in values if np.isfinite(value) and value > 0]
    return min(finite) / 1.3, 1.3 * max(finite)


def _at_best_rate(results: Results, problem: str, rule: str) -> Curve:
    """The one point of a rule's best rate (x)."""
    return curve_of(results.series("best_rate", rule, problem=problem))


def _best_dot(results: Results, problem: str, rule: str) -> Dot:
    c = _at_best_rate(results, problem, rule)
    return _end(c, _at_rate(rule, f"{c.x[-1]:.2g}"))


def _draw_best(results: Results, problem: str, path: Path) -> None:
    ends = {each: [_best_dot(results, each, rule) for rule in RULES] for each in PROBLEMS}
    everywhere = [n for dots in ends.values() for _, *numbers in dots for n in numbers]
    dots = ends[problem]
    title = {
        "airfoil": say("Airfoil"),
        "ill": say("Ill-conditioned"),
        "sparse": say("Sparse features"),
    }[problem]
    with figures.figure(path, figures.WIDTH, 0.9 + 0.23 * len(dots)) as fig:
        axes = fig.add_subplot(
            title=title,
            xscale="log",
            xlim=_around(everywhere),
            xlabel=say("excess loss after two epochs"),
        )
        _draw_dots(axes, dots, best=int(np.nanargmin([y for _, y, *_ in dots])))


def _draw_rates(results: Results, m: Mapping[str, Any], for_all: bool, path: Path) -> None:
    """Draw the rules that have one rate for all weights, or those that have one for each."""
    curves = results.curves("rates", problem="airfoil")
    title = say("One learning rate for all weights") if for_all else say("One for each weight")
    with figures.figure(path, figures.WIDTH, 3.4) as fig:
        axes = fig.add_subplot(
            title=title,
            xscale="log",
            yscale="log",
            xlabel=say("learning rate of the sweep"),
            ylabel=say("excess loss after two epochs"),
            xlim=(curves["SGD"].x[0], curves["SGD"].x[-1]),
            ylim=(5e-4, 2),
        )
        shown = [rule for rule in RULES if (rule in ONE_FOR_ALL) == for_all]
        for place, rule in enumerate(shown):
            _line(axes, curves[rule], place, _rule(rule))
        if for_all:
            bound = m["airfoil_rate_bound"]
            axes.axvline(bound, color=figures.FAINT, linestyle="--")
            axes.text(bound * 1.3, 7e-4, "2/λmax", color=figures.FAINT_TEXT)
        figures.key(fig, axes, columns=3)


def _draw_rare(results: Results, path: Path) -> None:
    labels = {
        "SGD": say("SGD, constant"),
        DECAYING: say("SGD, falls with steps"),
        COUNTING: say("SGD, falls with counts"),
        "AdaGrad": translation("AdaGrad"),
    }
    found = {}
    for name in labels:
        c = curve_of(results.series("feature_errors", name), 100)
        found[name] = replace(c, x=100 * c.x)
    shares = found["SGD"].x
    with figures.figure(path, figures.WIDTH, 3.3) as fig:
        axes = fig.add_subplot(
            xscale="log",
            yscale="log",
            xlabel=say("rows that have the feature (%)"),
            ylabel=say("squared error left (%)"),
            xlim=(shares.min(), shares.max()),
            ylim=_around([n for c in found.values() for n in (*c.low, *c.high)]),
        )
        figures.plain_ticks(axes.xaxis)
        figures.plain_ticks(axes.yaxis)
        for place, (name, label) in enumerate(labels.items()):
            _line(axes, found[name], place, label)
        figures.key(fig, axes)


def _draw_traces(results: Results, path: Path) -> None:
    with figures.figure(path, figures.WIDTH, 7.4) as fig:
        panels = fig.subplots(4, 2, sharex=True, sharey=True)
        for axes, (rule, rate) in zip(panels.flat, TRACES, strict=True):
            x1, x2 = (
                results.curves("trace", rate=rate, coordinate=each)[rule].y for each in ("x1", "x2")
            )
            for level in (0.05, 0.3, 1, 2.5, 5, 10, 18):
                size = 2 * (level / 0.1) ** 0.5, 2 * (level / 2) ** 0.5
                axes.add_patch(Ellipse((0, 0), *size, fill=False, edgecolor=figures.FAINT, lw=0.7))
            axes.plot(x1, x2, "o-", color=figures.COLOURS[1], markersize=3.5, linewidth=1.2)
            axes.plot(0, 0, "+", color=figures.COLOURS[0], markersize=10)
            axes.set(xlim=(-6, 2.5), ylim=(-3.2, 3.2), title=_at_rate(rule, f"{rate:g}"))
            axes.set_xlabel(f"→ ({_coordinate(x1[-1])}, {_coordinate(x2[-1])})")
            axes.grid(visible=False)
        fig.supxlabel("x₁", fontsize=figures.SMALLEST)
        fig.supylabel("x₂", fontsize=figures.SMALLEST)


def _draw_stability(results: Results, path: Path) -> None:
    bound = results.curves("stability_boundary")["2 + 2β"]
    with figures.figure(path, figures.WIDTH, 3.2) as fig:
        axes = fig.add_subplot(
            title=say("Momentum on a parabola"),
            xlabel=say("learning rate × curvature, lr λ"),
            ylabel=say("growth per step"),
            xlim=(0, 4),
            ylim=(0, 3.05),
        )
        axes.axhline(1, color=figures.FAINT, linewidth=1)
        ends = []
        for place, beta in enumerate(SHOWN_BETAS):
            growth = results.curves("stability", beta=beta)["momentum"]
            x, y, colour = _line(axes, growth, place)
            axes.plot(np.interp(beta, bound.x, bound.y), 1, "o", color=colour)
            ends.append((f"β = {beta:g}", x, y, colour))
        figures.label_ends(axes, ends)


def _draw_decay(results: Results, path: Path) -> None:
    with figures.figure(path, figures.WIDTH, 3.2) as fig:
        axes = fig.add_subplot(
            title=say("Gradient descent at 0.1"),
            xlabel=say("step"),
            ylabel=say("x, over x at the start"),
            xlim=(0, 20),
            ylim=(-1, 1.05),
        )
        axes.set_xticks(range(0, 21, 5))
        ends = []
        for place, curvature in enumerate((0.1, 1, 10, 19)):
            c = results.curves("decay", curvature=curvature)["GD"]
            ends.append((f"λ = {curvature:g}", *_line(axes, c, place)))
        figures.label_ends(axes, ends, gap=0.075)


def _draw_lenet(results: Results, path: Path) -> None:
    with figures.figure(path, figures.WIDTH, 3.4) as fig:
        axes = fig.add_subplot(
            title=say("LeNet, one seed"),
            xscale="log",
            xlabel=say("learning rate of the run"),
            ylabel=say("accuracy on test images (%)"),
        )
        for place, rule in enumerate(results.variants("lenet")):
            c = curve_of(results.series("lenet", rule), 100)
            _line(axes, c, place, _rule(rule))
            axes.plot(c.x, c.y, "os^Dvx"[place], color=figures.COLOURS[place])
        figures.key(fig, axes, columns=3)


def _draw_step_time(results: Results, m: Mapping[str, Any], path: Path) -> None:
    labels = {
        "step with SGD": say("step with SGD"),
        "step with AdaGrad": say("step with AdaGrad"),
        "loss and gradient only": say("loss and gradient only"),
    }
    with figures.figure(path, figures.WIDTH, 1.9) as fig:
        axes = fig.add_subplot(xlabel=say("ms per training step"))
        for row, name in enumerate(labels):
            samples = _samples(results, "step_time", name).tolist()
            virtual = m["device_kind"] == "cpu-virtual"
            figures.bar_with_samples(axes, row, samples, figures.COLOURS[0], virtual)
        axes.set_yticks(range(len(labels)), list(labels.values()))
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")
