"""The page's sentences are short enough to be read."""

MOST_WORDS = 25


def test_answers_and_findings_are_short(told):
    """A sentence that quotes a claim of the notes may be as long as that makes it."""
    long = [
        f"{stage}: {len(text.split())} words: {text}"
        for stage, texts in told.sentences.items()
        for text in texts
        if len(text.split()) > MOST_WORDS and "“" not in text
    ]
    assert not long, "\n".join(long)


def test_every_section_has_an_answer_with_a_number(told):
    without = [
        stage
        for stage, (answer, *_) in told.sentences.items()
        if stage not in ("report", "retest", "references") and not any(map(str.isdigit, answer))
    ]
    assert not without
