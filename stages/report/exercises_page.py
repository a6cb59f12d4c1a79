"""The page of exercises: each question's box “Predict, then try”, with its duration."""

import math
import re
from collections.abc import Mapping
from typing import NamedTuple

from markupsafe import Markup

from lab.claims.book_order import HEADINGS, PLACES
from lab.core.stage_times import COMMITTED, read_times
from lab.report.language import say
from stages.report.questions import Question

COMMAND = re.compile(r"invoke repro --stage ([\w@]+)|\b(train@\w+)")


class Exercise(NamedTuple):
    """A question's box, and its duration in words."""

    stage: str
    takes: str
    box: Markup


def exercises(questions: Mapping[str, Question]) -> dict[str, list[Exercise]]:
    """Return the exercises of all pages that could be drawn, by the index's headings."""
    seconds = read_times(COMMITTED).seconds
    found: dict[str, list[Exercise]] = {heading: [] for heading in HEADINGS}
    for stage, made in questions.items():
        if "predict" in made.prose.parts:
            box = made.prose.parts["predict"].html
            found[PLACES[stage].heading].append(Exercise(stage, takes(box, seconds), box))
    return {heading: those for heading, those in found.items() if those}


def takes(box: str, seconds: Mapping[str, Mapping[str, float]]) -> str:
    """Return the duration of a box's command in words, from the stages' seconds by params digest.

    Return "" if the committed run has no time, as for `landscapes`, which needs no machine.
    """
    command = COMMAND.search(box)
    if not command:
        return say("explorable only")
    timed = seconds.get(command[1] or command[2], {}).values()
    if not timed:
        return ""
    minutes = math.ceil(max(timed) / 60)
    return say("under a minute") if minutes <= 1 else say("about {n} minutes", n=minutes)
