"""What a question's texts still have of the scaffold: sentences of `invoke new`, word for word."""

import re
from pathlib import Path
from string import Template

from lab.claims.book_order import PLACES

TEMPLATES = Path(__file__).with_name("question")
NO_SENTENCE = re.compile(r"#|\{[{%]|---|number:|title: '|$")  # of a page: what may stay
SENTENCE = re.compile(r"en: ")  # of claims


def left_of_scaffold(text: Path, stage: str) -> list[str]:
    """The lines of a stage's en.md or claims.yaml that its author has still to write."""
    template = TEMPLATES / "page" / f"{text.name}.txt"
    if not (text.is_file() and template.is_file()):
        return []
    written = Template(template.read_text(encoding="utf-8")).safe_substitute(
        name=stage, book=PLACES[stage].sections[0]
    )
    scaffold = {line.strip() for line in written.splitlines()}
    lines = [line.strip() for line in text.read_text("utf-8", "replace").splitlines()]
    return [line for line in lines if line in scaffold and _is_sentence(line, text.suffix)]


def _is_sentence(line: str, suffix: str) -> bool:
    return bool(SENTENCE.match(line)) if suffix == ".yaml" else not NO_SENTENCE.match(line)
