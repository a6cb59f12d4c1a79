"""Verdicts in words, for the claims' page and for each stage's own."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lab.claims.claim import Kind
from lab.claims.notes import BOOK, places_of
from lab.claims.rules import Range, Verdict
from lab.claims.verdicts import CPU, Judgement
from lab.report.benchmarks import devices_in_words
from lab.report.book import page_of
from lab.report.language import localized, say, translation
from lab.report.numbers import digits_beside, number, span
from lab.report.reason_words import reason_of
from lab.report.scales import Scale, scale_of
from lab.results.findings import Finding, Over
from lab.results.stats import widening


class Shown(NamedTuple):
    """A verdict as shown: the key for filters, its sign, and its English word."""

    key: str
    sign: str
    word: str


SHOWN = {  # the most interesting for a reader first
    Verdict.REFUTED: Shown("refuted", "✗", "fails"),
    Verdict.DEPENDS: Shown("depends", "±", "depends"),
    Verdict.INCONCLUSIVE: Shown("inconclusive", "≈", "undecided"),
    Verdict.CONFIRMED: Shown("confirmed", "✓", "holds"),
    Verdict.NOT_TESTABLE: Shown("untested", "–", "untested"),
}
ANY = Range()


def of_the_notes(judgements: Sequence[Judgement]) -> list[Judgement]:
    """Return the judgements on what the notes say or print, without our own questions."""
    return [f for f in judgements if f.kind is not Kind.OURS]


def scale_on(judged: Judgement) -> Scale | None:
    """Return the number and its range as places on a line; None unless there is one number."""
    if judged.finding is None or judged.verdict is Verdict.DEPENDS:
        return None
    return scale_of(judged.finding, judged.claim.holds)


def elsewhere(here: Judgement, others: Mapping[str, Mapping[str, Judgement]]) -> str:
    """Return other machines' findings on a claim, if their verdict differs and has a number.

    Args:
        here: this machine's judgement.
        others: their judgements, by machine, then by the claim's id.
    """
    machines: dict[str, list[str]] = {}
    for machine, judgements in others.items():
        f = judgements.get(here.claim.id)
        if f and f.finding and f.verdict not in (Verdict.NOT_TESTABLE, here.verdict):
            machines.setdefault(_beside(here, f), []).append(machine)
    return say("; ").join(
        say("{machines}: {found}", machines=say(", ").join(names), found=found)
        for found, names in machines.items()
    )


def _beside(here: Judgement, f: Judgement) -> str:
    """Return a different machine's verdict and number, briefly if the context is the same."""
    if here.finding and f.finding and not f.reason.code and here.device_kind == f.device_kind:
        return verdict_and_number(f)
    return f"{SHOWN[f.verdict].sign} {effect_of(f)}"


def by_interest(judgements: Sequence[Judgement]) -> list[Judgement]:
    """Sort judgements by verdict: fails, depends, undecided, holds, untested."""
    return sorted(judgements, key=lambda f: list(SHOWN).index(f.verdict))


def tally(judgements: Sequence[Judgement]) -> dict[Shown, int]:
    """Count the judgements for each verdict that occurs."""
    count = Counter(f.verdict for f in judgements)
    return {SHOWN[verdict]: count[verdict] for verdict in Verdict if count[verdict]}


def tally_in_words(judgements: Sequence[Judgement]) -> str:
    """Return in English, for a terminal, how many statements hold, fail, and so on."""
    counts = [
        f"{n} {shown.word if n == 1 else shown.word.removesuffix('s')}"  # 1 holds, 2 hold
        for shown, n in tally(judgements).items()
    ]
    return ", ".join(counts)


def change_of(f: Judgement) -> str:
    """Return what would change a verdict."""
    if f.verdict is Verdict.DEPENDS:
        return say("The cases agreeing with each other.")
    if f.finding is None and f.verdict is Verdict.INCONCLUSIVE:
        return say("Times taken on a quiet machine, and left alone.")
    if f.finding is None:
        return say("Any number at all: there is none yet.")
    if f.finding.exact:
        return say(
            "Other code, data or seed: the number is the same in every run on this machine with"
            " this torch."
        )
    if not f.finding.decides:
        return say("More samples: the profile `study` takes them.")
    match f.verdict:
        case Verdict.CONFIRMED:
            return say("Undecided if the interval left the range, fails if all of it did.")
        case Verdict.REFUTED:
            return say("Undecided if the interval reached the range, holds if all of it did.")
    return say(
        "An interval that lies on one side of the range's end: the profile `study` narrows it."
    )


def rule_of(f: Judgement) -> str:
    """Say when a rule was fixed, and whether that was before the measurement."""
    if not f.measured_on:
        return say("Unchanged since {since}.", since=f.claim.since)
    if f.tests_its_rule:
        return say(
            "Fixed on {since}, before the measurement of {day}.",
            since=f.claim.since,
            day=f.measured_on,
        )
    if f.rule_was_fixed:
        return say(
            "Fixed on {since}. The same seed or count comes out the same on any later day, so that"
            " of {day} does not test it.",
            since=f.claim.since,
            day=f.measured_on,
        )
    return say(
        "Unchanged since {since}, when the results of {day} were known.",
        since=f.claim.since,
        day=f.measured_on,
    )


def in_words(verdict: Verdict) -> str:
    """Return a verdict's word in the current language."""
    return translation(SHOWN[verdict].word)


def place_in_words(places: str) -> str:
    """Return a sentence's places in the notes or in the book."""
    found = []
    for place in places_of(places):
        if place.source == BOOK:
            number = page_of(place.section).number
            found.append(say("section {section} of the book", section=number))
        elif place.first == place.last:
            found.append(say("note {note}, line {line}", note=place.source, line=place.first))
        else:
            found.append(
                say(
                    "note {note}, lines {first} to {last}",
                    note=place.source,
                    first=place.first,
                    last=place.last,
                )
            )
    return say("; ").join(found)


def source_of(judged: Judgement) -> str:
    """Return who makes a claim, and where."""
    if not judged.claim.at:
        return say("our own question")
    where = place_in_words(judged.claim.at)
    return {
        Kind.SAID: say("said in {where}", where=where),
        Kind.PRINTED: say("printed in {where}", where=where),
        Kind.OURS: say("our own question, about {where}", where=where),
    }[judged.kind]


def range_in_words(holds: Range) -> str:
    """Return the numbers for which a claim holds, in the current language."""
    low, high = holds.low, holds.high
    if low != high:
        low, high = (float(f"{end:.3g}") for end in (low, high))
    return translation(holds.template).format(low=low, high=high)


def effect_of(judged: Judgement, samples: bool = False) -> str:
    """Return the number, with its devices if not the CPU; or why there is no number.

    Args:
        judged: the judgement.
        samples: whether to add the interval's level and its number of samples.
    """
    if judged.cases:
        last = judged.cases[-1]  # all have the same number of samples
        found = zip(judged.claim.cases, judged.cases, strict=True)
        return say("; ").join(
            say(
                "{when}: {effect}",
                when=localized(case.when),
                effect=effect_of(f, samples and f is last),
            )
            for case, f in found
        )
    if judged.finding is None:
        return reason_of(judged)
    effect = measured(judged)
    if samples and judged.finding.n > 1:
        effect = say("{effect}, {samples}", effect=effect, samples=_samples(judged.finding))
    if reason := reason_of(judged):
        effect = say("{effect} ({reason})", effect=effect, reason=reason)
    on_virtual = judged.device_kind == "cpu-virtual"
    if judged.device_kind == CPU or (on_virtual and not judged.finding.timed):
        return effect
    return say("{effect}; {devices}", effect=effect, devices=devices_in_words(judged.device_kind))


def measured(judged: Judgement) -> str:
    """Return the number with its unit and interval; "" if there is none."""
    if judged.cases:
        return effect_of(judged)
    if judged.finding is None:
        return ""
    return _with_interval(judged.finding, judged.claim.holds, translation(judged.unit))


def in_brief(judged: Judgement) -> str:
    """Return the number (for cases, each number with its verdict), or why there is none."""
    if judged.cases:
        last = next((f for f in reversed(judged.cases) if f.finding), None)
        return say("; ").join(
            f"{SHOWN[f.verdict].sign} {measured(f)}" if f is last else verdict_and_number(f)
            for f in judged.cases  # all in the same unit
        )
    if need := judged.unmet:
        return say("needs {what}", what=localized(need.label))
    return measured(judged) or reason_of(judged)


def verdict_and_number(judged: Judgement) -> str:
    """Return a table cell: the verdict's sign, and the number if there is one."""
    sign = SHOWN[judged.verdict].sign
    if judged.finding is None:
        return sign
    percent = "%" if judged.unit.startswith("%") else ""  # the only unit shown
    return f"{sign} {_with_interval(judged.finding, judged.claim.holds, percent)}"


def _with_unit(number: str, unit: str) -> str:
    """Return a number with its unit, which may enclose it: “速度为 … 倍”."""
    if "…" in unit:
        return unit.replace("…", number)
    if not unit:
        return number
    return number + (unit if unit.startswith("%") else f" {unit}")


def _with_interval(e: Finding, holds: Range, unit: str = "") -> str:
    """Return a number with its unit, and its interval if it varies.

    The digits show on which side of the range's ends the interval lies.
    """
    effect = _with_unit(_number(e, holds), unit)
    if e.n < 2:
        return effect
    interval = span(e, digits_beside(e, holds.low, holds.high))
    return say("{effect} ({interval})", effect=effect, interval=interval)


def _number(e: Finding, holds: Range = ANY) -> str:
    """Return a finding's number; a count is written whole."""
    if e.exact and float(e.value).is_integer():
        return number(int(e.value))
    return number(e, digits_beside(e, holds.low, holds.high))


def _samples(e: Finding) -> str:
    """Return an interval's level (its chance to hold the median) and its number of samples."""
    over = {
        Over.STARTS: say("fresh processes"),
        Over.SEEDS: say("random seeds"),
        Over.CASES: say("cases"),
    }
    found = {"level": 100 * e.level, "count": e.n, "over": over[e.over or Over.STARTS]}
    if widening(e.n):  # its level rests on an assumption, so say it with the number
        return say("range of {count} {over}, widened to {level:.0f}%", **found)
    return say("{level:.1f}% interval over {count} {over}", **found)
