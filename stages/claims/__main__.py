"""Run the stage: `python -m stages.claims`."""

import logging
import sys
from collections import Counter
from collections.abc import Iterator, Sequence

from lab.claims.rules import DECIDED, Verdict
from lab.claims.verdicts import Judgement, judge_all, rows_of
from lab.core.files import HARDWARE_FILE, METRICS, REPORTS, write_json, write_rows
from lab.core.process import run
from lab.report.machines import in_one_line, machines_of, warning_of
from lab.report.verdict_words import SHOWN, measured, of_the_notes, tally_in_words
from lab.results.derived import UNREADABLE, whatever_is_under
from lab.results.documents import read_hardware
from lab.tools.profiles import is_smoke
from lab.tools.sides import side_of_commit

MOST_TOLD = 3  # differing statements to list

log = logging.getLogger(__name__)


def summarise(judgements: Sequence[Judgement]) -> dict[str, int]:
    """Count the claims for each verdict."""
    counts = Counter(f.verdict for f in judgements)
    return {"total": len(judgements), **{v.value.replace(" ", "_"): counts[v] for v in Verdict}}


def told(judgements: Sequence[Judgement]) -> Iterator[str]:
    """Yield lines on how much of the notes and the book holds, and on changes since the commit."""
    if is_smoke():
        yield "The profile smoke decides nothing."
        return
    here = of_the_notes(judgements)
    yield f"{len(here)} statements of the notes and the book: {tally_in_words(here)}"
    yield from _differences(here)


def _differences(here: Sequence[Judgement]) -> Iterator[str]:
    """Yield lines on verdicts that differ from the committed results', by today's rules."""
    try:
        committed = side_of_commit("HEAD")
    except UNREADABLE:  # also without git or a commit: there is nothing to compare with
        return
    verdicts = {f.claim.id: f.verdict for f in judge_all(committed.taken)}
    found = [f for f in here if f.verdict is not verdicts[f.claim.id]]
    if not found:
        return
    hardware, whose = committed.hardware, ""
    if hardware and HARDWARE_FILE.is_file() and hardware != read_hardware():
        whose = f", of {in_one_line(hardware)}"
    yield f"{len(found)} came out differently in the committed results{whose}:"
    contradicted_first = sorted(
        found, key=lambda f: {f.verdict, verdicts[f.claim.id]} != {*DECIDED}
    )
    for f in contradicted_first[:MOST_TOLD]:
        number = measured(f)
        yield (
            f"  {f.claim.says.en.rstrip('.')}: {SHOWN[f.verdict].word} here"
            f"{f' ({number})' if number else ''}, {SHOWN[verdicts[f.claim.id]].word} there"
        )


def main() -> None:
    """Judge all claims, write rows and metrics, and log how much holds."""
    if HARDWARE_FILE.is_file() and (warning := warning_of(machines_of(REPORTS, read_hardware()))):
        log.warning("%s", warning)
    judgements = judge_all(whatever_is_under(REPORTS))
    write_rows(REPORTS / "claims", rows_of(judgements))
    write_json(REPORTS / "claims" / METRICS, summarise(judgements))
    for line in told(judgements):
        log.info("%s", line)


if __name__ == "__main__":
    sys.exit(run(main))
