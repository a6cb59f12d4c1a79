"""The pipeline through the real dvc: first and second run, the README's commands, each task."""

import gzip
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from lab.claims.book_order import BOOK_ORDER
from lab.core.params import read_yaml
from lab.data import synthetic
from lab.data.datasets import RAW_FOLDER, dataset_name
from lab.data.sources import FASHION_FILES
from lab.results.derived import derivation_of, metrics_of
from lab.results.documents import read_results
from tests.helpers import ROOT, edit_params
from tests.pipeline.conftest import MIRROR, RUNS, command, environment, shell

pytestmark = pytest.mark.slow
MEASURED = [stage for stage in BOOK_ORDER if stage != "train"]
README = (ROOT / "README.md").read_text()


def stages_run(output: str) -> list[str]:
    return re.findall(r"Running stage '([^']+)'", output)


def json_of(path: Path) -> dict:
    return json.loads(path.read_text())


def test_a_first_run_runs_everything_and_a_second_one_only_the_probe(first_run, reproduced):
    printed = first_run.with_suffix(".txt").read_text()
    first = stages_run(printed)
    assert first[0] == "probe", "which checks the params before any work starts"
    train = [f"train@{name}" for name in RUNS]
    assert sorted(first) == sorted([*MEASURED, *train, "probe", "fetch", "claims", "report"])
    assert f"# {len(first)} stages to run" in printed
    left = shell(first_run, "git", "ls-files", "--others", "--exclude-standard").splitlines()
    assert [path for path in left if not path.startswith("reports/")] == []

    again = command(reproduced, "invoke", "repro")
    assert stages_run(again) == ["probe"] and "nothing to measure again" in again
    assert json.loads(command(reproduced, "dvc", "status", "--json")) == {
        "probe": ["always changed"]
    }


def test_a_run_leaves_the_metrics_that_follow_from_its_rows(first_run):
    rows = [
        path for path in (first_run / "reports").glob("*/rows.csv") if "claims" not in path.parts
    ]
    for path in (*rows, *(first_run / "reports").glob("train/*/rows.csv")):
        derivation = derivation_of(path.relative_to(first_run / "reports").parts[0])
        found = derivation.findings(read_results(path.parent))
        assert json_of(path.with_name("metrics.json")) == metrics_of(found, derivation.METRICS)


def test_pages_and_results_name_their_data_set(first_run):
    dataset = "fashion-mnist" if MIRROR else "synthetic"
    for stage in ("fetch", "schedules", "bench_input", *(f"train/{name}" for name in RUNS)):
        conditions = json_of(first_run / "reports" / stage / "conditions.json")
        assert conditions["dataset"] == dataset
    index = (first_run / "reports" / "index.html").read_text()
    assert ("Synthetic data" in index) == (not MIRROR)


def test_a_users_own_results_fail_no_test(first_run, reproduced):
    """Tests of results read the committed ones; tests of code and texts read the user's."""
    shell(reproduced, "git", "reset", "-q", "HEAD~1")
    changed = shell(reproduced, "git", "diff", "--name-only").split()
    assert {"params.yaml", "reports/README.md", "reports/claims/rows.csv"} <= {*changed}
    files = ("tests/pipeline/test_readme.py", "tests/pipeline/test_params.py")
    texts = "tests/stages/report/test_texts.py::test_both_languages_show_the_same_numbers"
    words = ("-q", "-p", "no:cacheprovider", *files, texts, "tests/stages/test_orphans.py")
    fresh = {k: v for k, v in environment().items() if not k.startswith(("PYTEST_", "LAB_COMM"))}
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=reproduced,
        env=fresh,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stdout[-3000:]


BLOCKS = re.compile(r"(?s)```(bash|console|text)\n(.*?)```")
IN_CONSOLE = re.compile(r"^\$ (.*?)(?:  +#.*)?$", re.MULTILINE)
BETWEEN_BACKTICKS = re.compile(r"`((?:invoke|dvc|git|python3?) [^`]+)`")
# these take minutes: `first_run` runs the first, TASKS and test_tasks.py the others
ELSEWHERE = ("invoke smoke", "invoke remeasure --stage fetch", "invoke remeasure --noisy")


def test_each_command_in_the_readme_works(reproduced):
    """As a user types it, in a new shell with the environment activated.

    `.ci/run` tries the commands that set up an environment, and runs the tests by one of them.
    """
    blocks = BLOCKS.findall(README)
    set_up = [text.strip() for kind, text in blocks if kind == "bash"]
    assert [line.rsplit("&& ", 1)[1] for line in set_up] == [
        ".venv/bin/invoke repro",
        ".venv/bin/invoke test",
    ]
    in_blocks = [
        line for kind, text in blocks if kind == "console" for line in IN_CONSOLE.findall(text)
    ]
    printed = {words: typed(reproduced, words) for words in in_blocks}
    for name, rate in (("high", "0.2"), ("low", "0.05")):
        [words] = [each for each in in_blocks if f"-n {name}" in each]
        assert stages_run(printed[words]) == ["probe", "train@record_83"]
        shown = printed["dvc exp show --only-changed"]
        assert re.search(rf"\[{name}\].*\b{rate}\b", shown), shown
    assert re.search(r"train\.runs\.record_83\.lr: \S+ -> 0\.05", printed["invoke compare"])
    assert "record_83" in printed["dvc metrics diff"]
    assert shell(reproduced, "git", "status", "--porcelain") == "", "it is undone"
    assert "high" not in command(reproduced, "dvc", "exp", "list")

    text = " ".join(BLOCKS.sub("", README).split())
    others = [*dict.fromkeys(BETWEEN_BACKTICKS.findall(text))]
    assert len(others) > 10 and {*ELSEWHERE} <= {*others}
    for words in others:
        if words in ELSEWHERE:
            continue
        said = typed(reproduced, words)
        if words.startswith("python "):
            assert "% test accuracy after" in said
        if words.startswith("invoke profile "):
            assert f"is the {words.split()[-1]} profile" in said
            shell(reproduced, "git", "checkout", "params.yaml")


def typed(folder: Path, words: str) -> str:
    """Return what a command prints in a shell in which the environment was activated."""
    activate = f". {Path(sys.prefix) / 'bin' / 'activate'}"
    return shell(folder, "sh", "-c", f"{activate} && {words}", activated=False)


def test_plain_dvc_keeps_files_that_a_user_put_in_place_of_outputs(clone):
    little = {"num_epochs": 1, "train_images": 256, "test_images": 100}
    changes = {f"train.runs.lenet_1gpu.{name}": value for name, value in little.items()}
    edit_params(changes, path=clone / "params.yaml")
    others = [clone / "data/airfoil/airfoil_self_noise.dat", clone / "models/lenet_1gpu.pt"]
    beside = clone / "data/FashionMNIST/raw/my_notes.txt"
    for path in (*others, beside):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
    for target in ("fetch", "train@lenet_1gpu"):
        command(clone, "dvc", "repro", "--force", "--single-item", target)
    kept = [path.with_name(f"{path.name}.1") for path in others]
    assert [path.read_text() for path in (*kept, beside)] == ["mine"] * 3


@pytest.mark.skipif(not MIRROR or "://" in MIRROR, reason="needs the data in a folder")
def test_plain_dvc_uses_a_users_copies_of_the_data_and_leaves_them_unchanged(clone):
    raw = clone / "data" / RAW_FOLDER
    raw.mkdir(parents=True)
    for file in FASHION_FILES:
        packed = Path(shutil.copy(ROOT / MIRROR / file.folders[0] / file.name, raw))
        (raw / file.path.name).write_bytes(gzip.decompress(packed.read_bytes()))
    before = {path: path.read_bytes() for path in raw.iterdir()}
    for words in (
        ("exp", "run", "-S", "data.timeout_s=7", "fetch"),  # a forced checkout comes first
        ("repro", "--force", "fetch"),
    ):
        command(clone, "dvc", *words)
        assert {path: path.read_bytes() for path in raw.iterdir()} == before
        assert dataset_name(clone / "data") == "fashion-mnist"
    assert "data/FashionMNIST" not in command(clone, "dvc", "status"), (
        "the hashes are the committed"
    )


TASKS = {  # a command, and what it prints or a file that it leaves
    "train": ("invoke train lenet_1gpu", "Stage 'train@lenet_1gpu' didn't change"),
    "predict": ("invoke predict shirt.png --run lenet_1gpu", r"(?s)( \d+\.\d+ %  .*){10}"),
    "repro": ("invoke repro --stage landscapes", "Stage 'landscapes' didn't change"),
    "remeasure": (
        "invoke remeasure --stage landscapes",
        r"(?s)Running stage 'landscapes'.*Running stage 'claims'.*Running stage 'report'",
    ),
    "claims": ("echo >> reports/landscapes/rows.csv && invoke claims", "Running stage 'claims'"),
    "report of one": ("rm reports/pages/train.html && invoke report -s train", "pages/train.html"),
    "snapshot": (
        "invoke snapshot mine && invoke compare --reference mine",
        "mine was measured with the profile smoke",
    ),
    "compare": (
        "sed -i /1e-06/s/,145/,155/ reports/landscapes/rows.csv && invoke compare --md",
        r"\| .*landscapes.* \|",
    ),
    "derive": (
        "sed -i 's/METRICS = (/METRICS = (\"excess_risk\", /' stages/landscapes/findings.py"
        " && invoke derive && dvc repro landscapes",
        r"(?s)reports/landscapes/metrics\.json.*Stage 'landscapes' didn't change",
    ),
    "new": ("invoke new made_up --book 12.5 --question 'Does it help?'", "stages/made_up/page"),
    "doctor": ("invoke doctor", r"(?m)^ok +data: "),
    "profile": ("invoke profile laptop", "is the laptop profile"),
    "clean": ("invoke clean", "Removing .lab/"),
}


@pytest.mark.parametrize("task", TASKS)
def test_a_task_does_what_it_is_for(reproduced, task):
    images, _ = synthetic.fashion(1, 0)
    Image.fromarray(images[0]).save(reproduced / "shirt.png")
    words, left = TASKS[task]
    printed = shell(reproduced, "sh", "-c", words)
    assert (reproduced / left).exists() or re.search(left, printed), printed


COMPARE = read_yaml(ROOT / ".github" / "workflows" / "compare.yml")["jobs"]["compare"]["steps"]
SMOKE_RUNS = [step["run"] for step in COMPARE if step.get("name", "").startswith("Smoke run")]


def test_the_workflow_of_a_pull_request_writes_a_comparison(first_run, tmp_path):
    """Here it changes no result: its tree is the base's after a smoke run."""
    folder, summary = tmp_path / "clone", tmp_path / "summary"
    shutil.copytree(first_run, folder, symlinks=True)
    base = shell(folder, "git", "rev-parse", "HEAD").strip()
    shell(folder, "git", "add", "--all")
    tree = shell(folder, "git", "write-tree").strip()
    head = shell(folder, "git", "commit-tree", "-p", base, "-m", "change", tree).strip()
    shell(folder, "git", "reset", "--quiet")
    found = {"pull_request.base.sha": base, "pull_request.head.sha": head}
    for run in SMOKE_RUNS:
        script = re.sub(r"\$\{\{ github\.event\.(.*?) \}\}", lambda each: found[each[1]], run)
        script = script.replace(".venv/bin/", f"{Path(sys.executable).parent}/")
        bash = ["env", f"GITHUB_STEP_SUMMARY={summary}", "bash", "-e", "-c", script]  # as GitHub
        shell(folder, *bash, activated=False)
    comparison = (folder / "comparison.md").read_text()
    assert "smoke-of-base" in comparison and comparison == summary.read_text()


def to_run(folder: Path) -> set[str]:
    """Return the stages that DVC finds changed, except the probe and the last two."""
    status = json.loads(command(folder, "dvc", "status", "--json"))
    return status.keys() - {"probe", "claims", "report"}


def test_a_stage_runs_again_if_its_code_its_data_or_the_machine_has_changed(reproduced):
    def after(path: str, edit: Callable[[bytes], bytes]) -> set[str]:
        before = (reproduced / path).read_bytes()
        (reproduced / path).write_bytes(edit(before))
        found = to_run(reproduced)
        (reproduced / path).write_bytes(before)
        return found

    def comment(source: bytes) -> bytes:
        return source + b"# a comment\n"

    runs = {f"train@{name}" for name in RUNS}
    trains = {*runs, "together", "schedules", "bench_training", "replicas", "convergence"}
    theory = {"landscapes", "optimizers"}  # update rules on formulas and the airfoil table
    assert after("stages/schedules/page/figures.py", comment) == set()
    assert after("lab/training/loop.py", comment) == trains
    assert after("lab/optim/update_rules.py", comment) == trains | theory
    images = "data/FashionMNIST/raw/train-images-idx3-ubyte"
    readers = {"fetch", *trains, "bench_input", "own_network", "parallelism"}
    assert after(images, lambda data: data[:-1] + b"\1") == readers
    assert after("data/airfoil/airfoil_self_noise.dat", lambda data: data + b"\n") == {
        "fetch",
        *theory,
    }
    machine = "reports/hardware.json"
    elsewhere = after(machine, lambda facts: facts.replace(b'"model": "', b'"model": "Another '))
    assert elsewhere == {*MEASURED, *runs} - {"landscapes"}, "which computes in float64"

    loop = reproduced / "lab" / "training" / "loop.py"
    loop.write_bytes(comment(loop.read_bytes()))
    command(reproduced, "dvc", "commit", "-f", "train")
    assert to_run(reproduced) == trains - runs, "as the README has it"
