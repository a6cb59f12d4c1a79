"""The pages that are of no question: the index, errata, how to, and the claims with the method."""

from collections.abc import Mapping

from stages.report.questions import Question


def pages(questions: Mapping[str, Question]) -> dict[str, str]:
    return {}
