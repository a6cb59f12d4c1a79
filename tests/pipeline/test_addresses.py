"""Nothing in the project says where on the web it is: whoever publishes it does."""

import subprocess

import pytest

from lab.core.params import read_yaml
from tests.helpers import ROOT


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="git knows the files")
def test_no_file_has_an_address_of_the_project():
    pattern = (
        r"github(\.com)?/[[:alnum:]_.-]+/d2l-lab|[[:alnum:]-]+[.]github[.]io|d2l-lab[/]d2l-lab"
    )
    found = subprocess.run(
        ["git", "grep", "-IoE", pattern], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert found.returncode == 1, found.stdout


def test_a_citation_names_the_author_that_the_licence_does():
    [author] = read_yaml(ROOT / "CITATION.cff")["authors"]
    assert author["name"].lower() in (ROOT / "LICENSE").read_text()
