"""The README tells the truth about what can be checked."""

import re
import subprocess
import sys
import tomllib

import pytest

from tests.helpers import ROOT
from tests.pipeline.test_architecture import PIPELINE
from tests.pipeline.test_tasks import TASKS

README = (ROOT / "README.md").read_text()


def test_the_graph_is_dvcs_own():
    command = [sys.executable, "-m", "dvc", "dag", "--md", "--collapse-foreach-matrix"]
    graph = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=120
    ).stdout
    assert graph.strip() in README


def test_the_table_has_every_stage_once_with_its_question():
    rows = re.findall(r"^\| \[`(\w+)`\]\(stages/(\w+)/\) \| (.+?) \|", README, flags=re.M)
    assert sorted(name for name, _, _ in rows) == sorted(PIPELINE)
    for name, file, question in rows:
        assert name == file
        assert f'"""{question}' in (ROOT / "stages" / name / "__init__.py").read_text()


def test_the_table_has_every_task():
    table = README.partition("\n## Tasks")[2].partition("\n## ")[0]
    first_cells = " ".join(re.findall(r"^\| (`.*?) \|", table, flags=re.M))
    assert set(re.findall(r"`(\w+)`", first_cells)) == TASKS


@pytest.mark.parametrize("page", ["README.md", "reports/README.md"])
def test_links_lead_to_files(page):
    folder = (ROOT / page).parent
    for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / page).read_text()):
        assert "://" in target or (folder / target).exists(), target


def test_ci_runs_the_readmes_own_command():
    [command] = re.findall(r"^python3 -m venv .*invoke test$", README, flags=re.M)
    assert "constraints.txt" in command
    assert "README.md" in (ROOT / ".ci" / "run").read_text()


def test_constraints_pin_everything_the_lab_asks_for():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = {line.split("==")[0].lower().replace("_", "-") for line in lines}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lists = (project["dependencies"], project["optional-dependencies"]["dev"])
    wanted = [re.split("[><=]", one)[0] for each in lists for one in each]
    assert len(wanted) > 15
    assert {name.lower().replace("_", "-") for name in wanted} <= pinned
