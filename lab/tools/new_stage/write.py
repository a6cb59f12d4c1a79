"""Write a new stage: `invoke new NAME --book SECTION --question QUESTION`.

The files of `question/` are a whole stage that trains LeNet in two variants, a sample for each
seed, with a figure and a claim. What is left to write is the experiment, and the texts.
"""

import json
import re
from datetime import date
from pathlib import Path
from string import Template

from lab.claims.book_order import PLACES
from lab.claims.ledger import ledger
from lab.core.errors import ParamsError
from lab.core.files import write_atomically
from lab.report.book import PATHS
from lab.tools.new_stage.scaffold import TEMPLATES

PARAMS = {  # with their comments in params.yaml
    "num_seeds: 8": "samples of each variant: 8 decide without an assumption, 4 with one",
    "num_epochs: 4": "passes over the training images",
    "train_images: 10240": "the first so many of Fashion-MNIST's 60,000",
    "image_side: 14": "pixels; 28 are the originals",
    "batch_size: 64": "images per step",
    "lr: 0.1": "learning rate",
}


def write_stage(name: str, book: str, question: str) -> None:
    """Write a stage's folder and its entries elsewhere; print which files, and what comes next.

    Raises:
        ParamsError: a name that is no Python module's or is taken, no section of the
            book, or no question in plain words.
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
    taken = {claim.id for claim in ledger()}
    words = {
        "name": name,
        "book": book,
        "question": question,
        "title": question.replace("'", "''"),
        "camel": name.title().replace("_", ""),
        "claim": next(f"X{i}" for i in range(1, len(taken) + 2) if f"X{i}" not in taken),
        "today": date.today().isoformat(),
    }
    folder, test = Path("stages", name), Path("tests/stages", name, f"test_{name}.py")
    made = {folder / "__init__.py": f'"""{question}"""\n'}
    made |= {folder / room / "__init__.py": "" for room in ("measure", "page")}
    for template in sorted(TEMPLATES.rglob("*.txt")):
        part = template.relative_to(TEMPLATES).with_suffix("")
        text = Template(template.read_text(encoding="utf-8")).substitute(words)
        made[test if part.name == "test.py" else folder / part] = text
    heading = "One machine" if book.startswith("13.") else "Optimization"
    last = [stage for stage, place in PLACES.items() if place.heading == heading][-1]
    place = f'    "{name}": IndexEntry("{heading}", ("{book}",)),\n'
    row = f"| [{question}](reports/README.md#{name}) | {book} | [`{name}`](stages/{name}/) |\n"
    entries = {
        "lab/claims/book_order.py": lambda text: _after(f'    "{last}": IndexEntry(', place, text),
        "README.md": lambda text: _after(f"(stages/{last}/)", row, text),
        "params.yaml": lambda text: _with_params(text, name, book),
        "dvc.yaml": lambda text: _with_stage(text, name, question),
    }
    for path, content in made.items():
        write_atomically(path, content.encode())
    for file, changed in entries.items():
        write_atomically(Path(file), changed(Path(file).read_text(encoding="utf-8")).encode())
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


def _after(start: str, line: str, text: str) -> str:
    """A text with a line after the one that holds `start`."""
    found = next(each for each in text.splitlines(keepends=True) if start in each)
    return text.replace(found, found + line, 1)


def _with_params(text: str, name: str, book: str) -> str:
    lines = [f"{name}:".ljust(28) + f"# section {book}"]
    lines += [f"  {value}".ljust(28) + f"# {comment}" for value, comment in PARAMS.items()]
    gap = "\n" if text.rstrip().rpartition("\n")[2].lstrip().startswith("- ") else "\n\n"  # as DVC
    return "\n".join([text.rstrip() + gap + lines[0], *lines[1:], ""])


def _with_stage(text: str, name: str, question: str) -> str:
    folder = f"reports/{name}"
    entry = f"""\
  {name}:
    desc: {json.dumps(question, ensure_ascii=False)}
    cmd: python -m stages.{name}
    deps:
      [stages/{name}/__main__.py, stages/{name}/measure, lab/core, lab/data, lab/machine,
       lab/nets, lab/optim, lab/parallel, lab/results, lab/timing, lab/training,
       data/FashionMNIST, data/source.json]
    params: [seed, devices, {name}, {{reports/hardware.json: [accelerator, cpu, software]}}]
    outs: [{{{folder}/rows.csv: {{cache: false}}}}, {{{folder}/conditions.json: {{cache: false}}}}]
    metrics: [{{{folder}/metrics.json: {{cache: false}}}}]

"""
    text = text.replace("  train:\n", f"{entry}  train:\n", 1)
    return text.replace("reports/scaling,", f"{folder}, reports/scaling,")  # of claims and report
