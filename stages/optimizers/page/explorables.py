"""Explorables of the page on optimizers.

`quadratic.js` and `stability.js` have the formulas of `lab.optim`; a test compares them.
"""

from lab.optim.update_rules import RULES
from lab.report.language import say, translation
from lab.report.page import Choice, Explorable, Slider
from stages.optimizers.page.figures import place_of

# known to quadratic.js
DRAWN = ("sgd", "momentum", "nesterov", "adagrad", "rmsprop", "adadelta", "adam", "yogi")
NONE = "none"  # no second optimizer
RATES = (1e-4, 10)
MOST_STEPS = 10_000  # the most that a browser draws immediately


def explorables(*_: object) -> list[Explorable]:
    return [quadratic(), stability()]


def quadratic() -> Explorable:
    """Two optimizers on the notes' quadratic, with its rotation and condition number to choose."""
    titles = {name: translation(RULES[name].title) for name in DRAWN}
    titles["sgd"] = say("gradient descent")
    return Explorable(
        name="quadratic",
        presets={f"{angle}°": {"angle": angle} for angle in (0, 45)},
        controls=[
            Choice("rule", say("first optimizer"), titles, "adagrad"),
            Slider.over_decades("rate", say("its learning rate"), *RATES, 2),
            Choice("rule2", say("second optimizer"), titles | {NONE: say("none")}, "sgd"),
            Slider.over_decades("rate2", say("its learning rate"), *RATES, 0.4),
            Slider("angle", say("rotation (°)"), low=0, high=90, value=0, step=1),
            Slider("steps", say("steps"), 1, 100, 20, step=1, whole=True, least=1, most=MOST_STEPS),
        ],
        more=[
            Slider("beta", say("momentum β"), 0, 0.99, 0.5, step=0.01, least=0, most=1),
            Slider("condition", say("condition number κ"), 1, 100, 20, step=1, least=1),
            Slider("x1", say("start x₁"), low=-6, high=6, value=-5, step=0.1),
            Slider("x2", say("start x₂"), low=-6, high=6, value=-2, step=0.1),
        ],
        outputs={
            "value": say("f at the end (first)"),
            "value2": say("f at the end (second)"),
            "of_bound": say("lr / highest stable lr (first)"),
            "of_bound2": say("lr / highest stable lr (second)"),
        },
        words=titles | {"drag": say("drag the start"), "step": say("step")},
        data={"colours": {name: place_of(RULES[name].title) for name in DRAWN}},
    )


def stability() -> Explorable:
    """The growth per step of momentum on a parabola, and its path."""
    return Explorable(
        name="stability",
        controls=[
            Slider("curvature", say("lr · λ"), 0.01, 4.5, 2.4, step=0.01, least=1e-6),
            Slider("beta", say("momentum β"), 0, 1, 0.5, step=0.01, least=0, most=1),
        ],
        outputs={
            "growth": say("factor per step"),
            "fate": say("in the long run x"),
            "last": say("x after 40 steps"),
        },
        words={
            "curvature": say("lr · λ"),
            "growth": say("factor per step"),
            "step": say("step"),
            "shrinks": say("shrinks"),
            "grows": say("grows"),
            "stays": say("does neither"),
        },
    )
