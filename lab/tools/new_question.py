"""Write a new question: `invoke new NAME --book SECTION --question QUESTION`.

`question_templates/` holds a whole stage that trains LeNet in two variants, one sample per seed,
with a figure and a claim. `TODO` marks what is left to write: the experiment and the texts.
"""

import json
import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from string import Template

from lab.claims.book_order import PLACES
from lab.claims.ledger import ledger
from lab.core.errors import ParamsError
from lab.core.files import write_atomically
from lab.report.book import PATHS

BOOK_ORDER = "lab/claims/book_order.py"
TEMPLATES = Path(__file__).with_name("question_templates")


def write_question(name: str, book: str, question: str) -> None:
    """Write a stage's folder and its entries elsewhere; print the files and the next steps.

    Raises:
        ParamsError: the name is no module name or is taken, the book has no such section, or
            the question is empty or has characters that YAML or a table cannot hold.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise ParamsError(f"{name!r}: expected a name of small letters, such as gradient_clipping")
    if Path("stages", name).exists():
        raise ParamsError(f"stages/{name} is there already; take another name")
    if book not in PATHS:
        raise ParamsError(f"--book {book!r}: expected a section of chapter 12 or 13, such as 12.11")
    if not question.strip() or re.search(r'["\\|\n]', question):  # for Python, YAML and a table
        raise ParamsError(
            "--question: expected what it asks in plain words, such as 'Does it help?'; no"
            " double quotes, bars or backslashes"
        )
    words = words_for(name, book, question)
    heading = "One machine" if book.startswith("13.") else "Optimization"
    last = [stage for stage, place in PLACES.items() if place.heading == heading][-1]
    place = f'    "{name}": IndexEntry("{heading}", ("{book}",)),\n'
    row = f"| [{question}](reports/README.md#{name}) | {book} | [`{name}`](stages/{name}/) |\n"
    pipeline = Path("dvc.yaml").read_text(encoding="utf-8")
    entries = {
        BOOK_ORDER: _with_line(BOOK_ORDER, f'    "{last}": IndexEntry(', place),
        "README.md": _with_line("README.md", f"(stages/{last}/)", row),
        "params.yaml": Path("params.yaml").read_text(encoding="utf-8").rstrip()
        + f"\n{filled_in('params.yaml', words)}",
        "dvc.yaml": pipeline.replace(
            "  train:\n", filled_in("dvc.yaml", words) + "  train:\n", 1
        ).replace("reports/scaling,", f"reports/{name}, reports/scaling,"),  # of claims and report
    }
    made = {f"stages/{name}/{room}__init__.py": "" for room in ("measure/", "page/")}
    made[f"stages/{name}/__init__.py"] = f'"""{question}"""\n'
    made[f"tests/stages/{name}/test_{name}.py"] = filled_in("test.py", words)
    for template in sorted((TEMPLATES / "stage").rglob("*.txt")):
        part = template.relative_to(TEMPLATES / "stage").with_suffix("").as_posix()
        made[f"stages/{name}/{part}"] = filled_in(f"stage/{part}", words)
    for file, content in (made | entries).items():
        write_atomically(Path(file), content.encode())
    print(*made, *entries, sep="\n")
    print(
        f"next: write stages/{name}/measure/experiment.py until `invoke test -k {name}` passes,"
        f" then `invoke repro --stage {name}` and `invoke claims`"
    )
    print(
        f"undo: `git checkout {' '.join(entries)} && git clean -fdq stages/{name}"
        f" tests/stages/{name} reports/{name} 'reports/*/{name}.*'`"
    )
    if any(character.isdigit() for character in question):
        print("a title has no numbers: shorten it in en.md and the README's table")


def words_for(name: str, book: str, question: str) -> dict[str, str]:
    """Return the values of the templates' placeholders."""
    taken = {claim.id for claim in ledger()}
    return {
        "name": name,
        "book": book,
        "question": question,
        "title": question.replace("'", "''"),
        "quoted": json.dumps(question, ensure_ascii=False),
        "camel": name.title().replace("_", ""),
        "claim": next(f"X{i}" for i in range(1, len(taken) + 2) if f"X{i}" not in taken),
        "today": date.today().isoformat(),
    }


def filled_in(template: str, words: Mapping[str, str]) -> str:
    return Template((TEMPLATES / f"{template}.txt").read_text(encoding="utf-8")).substitute(words)


def _with_line(file: str, start: str, line: str) -> str:
    """Return a file's text with `line` inserted after the first line that contains `start`."""
    text = Path(file).read_text(encoding="utf-8")
    found = next(each for each in text.splitlines(keepends=True) if start in each)
    return text.replace(found, found + line, 1)
