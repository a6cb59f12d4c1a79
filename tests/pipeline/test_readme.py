"""The README tells the truth about what can be checked."""

import re
import tomllib

import pytest

from tests.helpers import ROOT
from tests.pipeline.test_architecture import PIPELINE

README = (ROOT / "README.md").read_text()


def test_the_table_has_every_stage_once_with_its_question_and_a_command():
    rows = re.findall(
        r"^\| \[`(\w+)`\]\(stages/(\w+)/\) \| (.+?) \| .+? \| `invoke (.+?)` \|$",
        README,
        flags=re.M,
    )
    assert sorted(name for name, *_ in rows) == sorted(PIPELINE)
    for name, folder, _, command in rows:
        assert name == folder
        alone = {
            "train": "train RUN",
            "claims": "claims",
            "report": "report",
        }  # seconds, or one run
        assert command == alone.get(name, f"repro --stage {name}")


@pytest.mark.parametrize("page", ["README.md", "reports/README.md"])
def test_links_lead_to_files(page):
    folder = (ROOT / page).parent
    for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / page).read_text()):
        assert "://" in target or (folder / target).exists(), target


def test_constraints_pin_everything_the_lab_asks_for():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = {line.split("==")[0].lower().replace("_", "-") for line in lines}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lists = (project["dependencies"], project["optional-dependencies"]["dev"])
    wanted = [re.split("[><=]", one)[0] for each in lists for one in each]
    assert len(wanted) > 15
    assert {name.lower().replace("_", "-") for name in wanted} <= pinned
