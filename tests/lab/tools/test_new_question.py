"""A new stage lacks only its experiment, and everything that must name it does."""

import re
import shutil
import subprocess

import pytest

from lab.core.errors import ParamsError
from lab.core.files import read_rows
from lab.tools.new_question import write_question
from tests import forked
from tests.helpers import COMMITTED, ROOT, write_data

PROJECT = (  # what the commands and tests below read
    *("lab", "stages", "tests", "profiles", "notebooks", "docs"),
    *(".ci", ".github"),
    *("dvc.yaml", "pyproject.toml", "constraints.txt", "uv.lock", "tasks.py"),
    *("README.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE", "LICENSE-TEXT.md", "CITATION.cff"),
)
NAME, QUESTION = "made_up", "Does it help: clipping?"
IDENTITY = ("-c", "user.name=test", "-c", "user.email=test@example.org")
ARCHITECTURE = (
    "tests/pipeline/test_architecture.py",
    "tests/pipeline/test_params.py",
    "tests/pipeline/test_readme.py",
    "tests/pipeline/test_translations.py",
    "tests/lab/claims/test_ledger.py",
)


@pytest.mark.slow
def test_a_new_stage_lacks_only_its_experiment(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    for part in PROJECT:
        source = ROOT / part
        (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / part)
    shutil.copytree(COMMITTED / "reports", folder / "reports")
    shutil.copy(COMMITTED / "params.yaml", folder)
    for words in (["init", "-q"], ["add", "-A"], [*IDENTITY, "commit", "-qm", "before"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    made = forked.run("invoke", "new", NAME, "--book", "12.5", "--question", QUESTION, cwd=folder)
    assert made.returncode == 0, made.stderr
    walls = forked.run("pytest", "-q", "-p", "no:cacheprovider", *ARCHITECTURE, cwd=folder)
    assert walls.returncode == 0, walls.stdout[-2000:]
    first = forked.run("pytest", "-q", "-p", "no:cacheprovider", f"tests/stages/{NAME}", cwd=folder)
    assert f"NotImplementedError: the experiment of {NAME}" in first.stdout
    experiment = folder / "stages" / NAME / "measure" / "experiment.py"
    text = re.sub("    raise .*", "    return sgd_step(net, batch, lr)", experiment.read_text())
    known = "    return 50.0 + seed / 100 + (variant == 'changed')"
    experiment.write_text(re.sub("    return 100 .*", known, text))
    write_data(folder / "data")
    for command in (f"stages.{NAME}", "stages.claims", "stages.report"):
        ended = forked.run(command, cwd=folder)
        assert ended.returncode == 0, ended.stderr[-2000:]
        assert f"{NAME} cannot be shown" not in ended.stderr
    judged = read_rows(folder / "reports" / "claims" / "rows.csv")
    assert [row["verdict"] for row in judged if row["id"] == "X1"] == ["confirmed"]
    for page, draft in ((f"{NAME}.html", "Draft: "), (f"{NAME}.zh.html", "草稿：")):
        assert draft in (folder / "reports" / "pages" / page).read_text()
        assert draft not in (folder / "reports" / "pages" / page.replace(NAME, "train")).read_text()
    frozen = forked.run("invoke", "freeze", cwd=folder)
    assert frozen.returncode == 2
    assert f"stages/{NAME}/page/claims.yaml: still has a TODO" in frozen.stderr
    for page in ("index.html", "index.zh.html"):
        assert NAME in (folder / "reports" / page).read_text()

    *_, undo = re.findall("^undo: `(.+)`$", made.stdout, flags=re.MULTILINE)
    assert subprocess.run(["sh", "-c", undo], cwd=folder, check=False).returncode == 0
    left = subprocess.run(
        ["git", "status", "--short"], cwd=folder, capture_output=True, text=True, check=True
    )
    assert NAME not in left.stdout
    for entry in ("README.md", "params.yaml", "dvc.yaml", "lab/claims/book_order.py"):
        assert f" M {entry}" not in left.stdout.splitlines()


def test_the_labs_own_questions_have_no_todo_left():
    texts = [*(ROOT / "stages").glob("*/page/*.md"), *(ROOT / "stages").glob("*/page/claims.yaml")]
    assert texts and [text for text in texts if "TODO" in text.read_text()] == []


@pytest.mark.parametrize(
    ("name", "book", "question", "said"),
    [
        ("Clipping", "12.11", QUESTION, "'Clipping'"),
        ("my-stage", "12.11", QUESTION, "'my-stage'"),
        ("optimizers", "12.11", QUESTION, "stages/optimizers is there already"),
        (NAME, "9.9", QUESTION, "'9.9': expected a section"),
        (NAME, "12.11", " ", "--question"),
        (NAME, "12.11", 'Does it "help"', "--question"),
        (NAME, "12.11", "Does a | b?", "--question"),
    ],
)
def test_an_invalid_question_is_refused(name, book, question, said, monkeypatch):
    monkeypatch.chdir(ROOT)
    with pytest.raises(ParamsError, match=said):
        write_question(name, book, question)
