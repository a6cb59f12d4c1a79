"""What the report lets a reader play with: update rules on a quadratic, and momentum's stability.

`quadratic.js` and `stability.js` compute with the formulas of `lab.optim`; a test compares them.
"""

from lab.report.language import say, section_number
from lab.report.page import Choice, Explorable, Slider


def quadratic() -> Explorable:
    """Update rules on the notes' quadratic, its axes turned and its condition changed."""
    return Explorable(
        name="quadratic",
        title=say("Move the start, the rate and the axes: where does each rule end?"),
        controls=[
            Choice(
                "rule",
                say("update rule"),
                {
                    "gd": say("gradient descent"),
                    "momentum": say("heavy-ball momentum"),
                    "nesterov": say("Nesterov's momentum"),
                    "adagrad": "AdaGrad",
                    "rmsprop": "RMSProp",
                    "adadelta": "Adadelta",
                    "adam": "Adam",
                    "yogi": "Yogi",
                },
                "momentum",
            ),
            Slider("rate", say("rate"), low=0.01, high=2.5, value=0.6, step=0.01),
            Slider("beta", say("momentum β"), low=0, high=0.99, value=0.5, step=0.01),
            Slider("steps", say("number of steps"), low=1, high=100, value=20, step=1),
            Slider("condition", say("condition number"), low=1, high=100, value=20, step=1),
            Slider("angle", say("angle of the axes (°)"), low=0, high=90, value=0, step=1),
            Slider("x1", say("start x₁"), low=-6, high=6, value=-5, step=0.1),
            Slider("x2", say("start x₂"), low=-6, high=6, value=-2, step=0.1),
        ],
        outputs={
            "value": say("f at the end"),
            "x1": say("x₁ at the end"),
            "x2": say("x₂ at the end"),
            "of_bound": say("rate over the highest stable rate"),
        },
        words={"drag": say("drag the start"), "step": say("step")},
        how=say(
            "f(x) = (2/κ) u₁² + 2 u₂², u being x turned by the angle: at κ = 20 and 0° the book's"
            " 0.1 x₁² + 2 x₂² ({section}). The rules are those of lab/optim/update_rules.py, all"
            " but rate and momentum as in the notes; over 1, the last number means divergence.",
            section=section_number("12.6"),
        ),
    )


def stability() -> Explorable:
    """The growth per step of momentum on a parabola, and the path that goes with it."""
    return Explorable(
        name="stability",
        title=say("Where is momentum stable, and how fast is it there?"),
        controls=[
            Slider("curvature", say("rate × curvature"), low=0.01, high=4.5, value=2.4, step=0.01),
            Slider("beta", say("momentum β"), low=0, high=1, value=0.5, step=0.01),
        ],
        outputs={
            "growth": say("factor per step"),
            "fate": say("in the long run x"),
            "last": say("x after 40 steps"),
        },
        words={
            "curvature": say("rate × curvature"),
            "growth": say("factor per step"),
            "step": say("step"),
            "shrinks": say("shrinks"),
            "grows": say("grows"),
            "stays": say("does neither"),
        },
        how=say(
            "The factor is the larger |r| of r² − (1 + β − ηλ) r + β = 0, the eigenvalues of a step"
            " of momentum (book {section}, lab/optim/update_rules.py) on a parabola; it is under 1"
            " for ηλ below 2 + 2β, dashed. Drag the cross-hair: beside it is x from 1, and the"
            " factor to the power of the step, dotted.",
            section=section_number("12.6"),
        ),
    )
