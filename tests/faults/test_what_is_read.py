"""Damaged files of all kinds, given to the commands that read them: one line, and what mends it."""

import os
from pathlib import Path

import pytest

from lab.core.files import write_json
from tests.helpers import errors, hardware, run_stage

# in this order: the first brings the params back that the others read
COMMANDS = {
    "profiles laptop": (0, ("params.yaml is the laptop profile",)),
    "profiles smoke": (2, ("profiles/smoke.yaml, line 1: more than 32 sections", "mend the YAML")),
    "compare --reference ../hardware": (2, ("reference '../hardware': expected at most 64 lett",)),
    "compare --reference half": (3, ("half.json: damaged", "`git checkout reports/reference/half")),
    "compare --reference pipe": (2, ("pipe.json: no such reference",)),
    "references mine --snapshot": (3, ("a/metrics.json: damaged (x", "delete it and run `invoke")),
    "retest": (3, ("claims/rows.csv: damaged (line 3: 1 cells for 2 columns); delete it and run",)),
}


@pytest.fixture
def damaged(project: Path) -> Path:
    """A project with something wrong in every file."""
    reports = project / "reports"
    write_json(reports / "hardware.json", hardware("this"))
    for path, content in {
        reports / "reference" / "half.json": '{"name": "half", "profile": "lap',
        reports / "a" / "metrics.json": '{"x": [1, 2]}',
        reports / "claims" / "rows.csv": "id,verdict\nA1,confirmed\nA2\n",
        project / "profiles" / "smoke.yaml": "a: " + "[" * 3000,
        project / "params.yaml": "seed: [",
    }.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    os.mkfifo(reports / "reference" / "pipe.json")
    return project


@pytest.mark.faults("L3", "L4", "R2", "P9")
def test_each_command_names_the_file_and_the_cure(damaged):
    for command, (code, words) in COMMANDS.items():
        name, *arguments = command.split()
        result = run_stage(f"lab.tools.{name}", *arguments)
        assert result.returncode == code, (command, result.stderr)
        said = errors(result) if code else result.stdout.splitlines()[-1:]
        assert len(said) == 1, command
        assert [each for each in words if each not in said[0]] == [], said
