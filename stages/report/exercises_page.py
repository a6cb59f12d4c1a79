"""The page of exercises: each question's box “Predict, then try”, with the time that it takes."""

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
    """A question's box as its page has it, and what trying takes, in words."""

    stage: str
    takes: str
    box: Markup


def exercises(questions: Mapping[str, Question]) -> dict[str, list[Exercise]]:
    """Those of all pages that could be drawn, under the headings of the index."""
    seconds = read_times(COMMITTED).seconds
    found: dict[str, list[Exercise]] = {heading: [] for heading in HEADINGS}
    for stage, made in questions.items():
        if "predict" in made.prose.parts:
            box = made.prose.parts["predict"].html
            found[PLACES[stage].heading].append(Exercise(stage, takes(box, seconds), box))
    return {heading: those for heading, those in found.items() if those}


def takes(box: str, seconds: Mapping[str, Mapping[str, float]]) -> str:
    """How long a box's command takes by what stages took, each by the digest of its params.

    Nothing of what the committed run did not measure, such as `landscapes`, which needs no machine.
    """
    command = COMMAND.search(box)
    if not command:
        return say("explorable only")
    timed = seconds.get(command[1] or command[2], {}).values()
    if not timed:
        return ""
    minutes = math.ceil(max(timed) / 60)
    return say("under a minute") if minutes <= 1 else say("about {n} minutes", n=minutes)
