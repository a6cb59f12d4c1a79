"""Write a new stage: `invoke new NAME --book SECTION --question QUESTION`.

The templates beside this file are a whole stage: two variants, a sample for each seed, a figure, a
claim. What is left to write is the experiment itself, which the first test asks for.
"""

import json
import re
from datetime import date
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from lab.claims.book_order import PLACES
from lab.claims.ledger import ledger
from lab.core.errors import ParamsError
from lab.core.files import write_atomically
from lab.tools.deps import with_deps

HERE = Path(__file__).parent
TEMPLATES = {  # by the file that each makes
    "__init__.py.j2": "stages/{name}/__init__.py",
    "main.py.j2": "stages/{name}/__main__.py",
    "findings.py.j2": "stages/{name}/findings.py",
    "params.py.j2": "stages/{name}/measure/params.py",
    "experiment.py.j2": "stages/{name}/measure/experiment.py",
    "en.md.j2": "stages/{name}/page/en.md",
    "zh.md.j2": "stages/{name}/page/zh.md",
    "values.py.j2": "stages/{name}/page/values.py",
    "figures.py.j2": "stages/{name}/page/figures.py",
    "claims.yaml.j2": "stages/{name}/page/claims.yaml",
    "words.yaml.j2": "stages/{name}/page/words.yaml",
    "test.py.j2": "tests/stages/{name}/test_{name}.py",
}


def write_stage(name: str, book: str, question: str) -> None:
    """Write a stage's folder and its entries elsewhere; print which files, and what comes next.

    Raises:
        ParamsError: a name that is no Python module's or is taken, or a section that is none.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise ParamsError(f"{name!r}: expected a name of small letters, such as gradient_clipping")
    if Path("stages", name).exists():
        raise ParamsError(f"stages/{name} is there already; take another name")
    if not re.fullmatch(r"\d+\.\d+", book):
        raise ParamsError(f"{book!r}: expected a section of the book, such as 12.11")
    values = {
        "name": name,
        "book": book,
        "question": question,
        "params": "".join(word.title() for word in name.split("_")) + "Params",
        "claim": _free_id(),
        "today": date.today().isoformat(),
    }
    templates = Environment(  # noqa: S701  (it writes Python, no HTML)
        loader=FileSystemLoader(HERE), undefined=StrictUndefined, keep_trailing_newline=True
    )
    made = {
        Path(file.format(name=name)): templates.get_template(template).render(values)
        for template, file in TEMPLATES.items()
    }
    made |= {Path("stages", name, part, "__init__.py"): "" for part in ("measure", "page")}
    for path, text in made.items():
        write_atomically(path, text.encode())
    entries = {
        Path("lab/claims/book_order.py"): _in_book_order,
        Path("params.yaml"): _in_params,
        Path("dvc.yaml"): _in_pipeline,
        Path("README.md"): _in_table,
    }
    for path, entry in entries.items():
        text = path.read_text(encoding="utf-8")
        write_atomically(path, entry(text, name, book, question).encode())
    print(*made, *entries, sep="\n")
    print(
        f"next: write stages/{name}/measure/experiment.py until `invoke test -k {name}` passes,"
        f" then `invoke repro --stage {name}` and `invoke claims`"
    )
    if any(character.isdigit() for character in question):
        print("a title has no numbers: shorten it in en.md, zh.md and the README's table")


def _free_id() -> str:
    """The first id X1, X2, … that no claim has."""
    taken = {claim.id for claim in ledger()}
    return next(f"X{i}" for i in range(1, len(taken) + 2) if f"X{i}" not in taken)


def _beside(book: str) -> tuple[str, str]:
    """The heading of a section of the book, and the last stage under it."""
    heading = "Optimization" if book.startswith("12.") else "One machine"
    return heading, [stage for stage, place in PLACES.items() if place.heading == heading][-1]


def _in_book_order(text: str, name: str, book: str, question: str) -> str:
    heading, last = _beside(book)
    return _after(
        f'    "{last}": Place(', f'    "{name}": Place("{heading}", ("{book}",)),\n', text
    )


def _after(start: str, line: str, text: str) -> str:
    """A text with a line after the one that holds `start`."""
    found = next(each for each in text.splitlines(keepends=True) if start in each)
    return text.replace(found, found + line, 1)


def _in_params(text: str, name: str, book: str, question: str) -> str:
    section = f"{name}:".ljust(28) + f"# section {book}\n"
    key = "  num_seeds: 8".ljust(28) + "# samples of each variant; an interval of 99 % needs 4\n"
    gap = "\n" if text.rstrip().rpartition("\n")[2].lstrip().startswith("- ") else "\n\n"  # as DVC
    return f"{text.rstrip()}{gap}{section}{key}"


def _in_pipeline(text: str, name: str, book: str, question: str) -> str:
    folder = f"reports/{name}"
    entry = f"""\
  {name}:
    desc: {json.dumps(question, ensure_ascii=False)}
    cmd: python -m stages.{name}
    deps: []
    params: [seed, {name}]
    outs: [{{{folder}/rows.csv: {{cache: false}}}}, {{{folder}/conditions.json: {{cache: false}}}}]
    metrics: [{{{folder}/metrics.json: {{cache: false}}}}]

"""
    return with_deps(text.replace("  train:\n", f"{entry}  train:\n", 1))


def _in_table(text: str, name: str, book: str, question: str) -> str:
    row = f"| {question} | {book} | [`{name}`](stages/{name}/) |\n"
    return _after(f"(stages/{_beside(book)[1]}/)", row, text)
