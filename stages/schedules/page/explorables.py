"""What the report lets a reader play with: a schedule, and what a training loop makes of it.

`rate_schedule.js` computes with the formulas of `lab.optim.schedules`; a test compares them.
"""

from lab.report.language import say
from lab.report.page import Choice, Explorable, Slider


def explorables(*_: object) -> list[Explorable]:
    return [rate_schedule()]


def rate_schedule() -> Explorable:
    """The schedules of the notes' figure: the rate of each step, by when it is set."""
    return Explorable(
        name="rate_schedule",
        controls=[
            Choice(
                "kind",
                say("schedule"),
                {
                    "constant": say("constant"),
                    "square_root": say("square root"),
                    "factor": say("factor 0.9 per epoch"),
                    "multi_step": say("multi-step"),
                    "cosine": say("cosine"),
                    "inverse_sqrt": say("inverse square root"),
                    "one_cycle": say("one-cycle"),
                },
                "cosine",
            ),
            Choice(
                "when",
                say("the rate is set"),
                {"step": say("before each step"), "epoch": say("after each epoch")},
                "epoch",
            ),
            Slider("base", say("base rate"), low=0.02, high=0.5, value=0.3, step=0.01),
            Slider("warmup", say("epochs of warm-up"), low=0, high=10, value=5, step=1),
        ],
        outputs={
            "first": say("rate of the first step"),
            "highest": say("highest"),
            "last": say("of the last step"),
            "mean": say("mean"),
        },
        words={
            "time": say("epoch"),
            "rate": say("learning rate"),
            "mean": say("mean"),
            "step": say("before each step"),
            "epoch": say("after each epoch"),
        },
    )
