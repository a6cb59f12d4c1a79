"""The page's explorable: a schedule, and the rates that a training loop makes of it.

`rate_schedule.js` has the formulas of `lab.optim.schedules`; a test compares them.
"""

from lab.report.language import say
from lab.report.page import Choice, Explorable, Slider


def explorables(*_: object) -> list[Explorable]:
    return [rate_schedule()]


def rate_schedule() -> Explorable:
    """The notes' schedules: each step's rate, set before steps or after epochs."""
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
            # the schedules fall to 0.01 and end after 20 epochs
            Slider("base", say("base rate"), 0.01, 0.5, 0.3, step=0.01, least=0.01),
            Slider("warmup", say("epochs of warm-up"), 0, 10, 5, step=1, least=0, most=19),
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
