"""The project's address: what names it agrees with pyproject.toml."""

import re
import subprocess
import tomllib

import pytest

from lab.core.params import read_yaml
from lab.report import address
from tests.helpers import ROOT

URLS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]
CITATION = read_yaml(ROOT / "CITATION.cff")


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="git knows the files")
def test_whatever_names_the_project_on_the_web_agrees():
    """Also a link of Colab's, which is made of the source's."""
    name = re.escape(URLS["Source"].rsplit("/", 1)[1])
    pattern = rf"github(\.com)?/[[:alnum:]_.-]+/{name}\b|[[:alnum:].-]+\.github\.io/{name}\b"
    found = subprocess.run(
        ["git", "grep", "-IoE", pattern], cwd=ROOT, capture_output=True, text=True, check=True
    )
    known = {url.removeprefix("https://").rstrip("/") for url in URLS.values()}
    named = {line.replace(":github/", ":github.com/") for line in found.stdout.splitlines()}
    assert named
    assert {line for line in named if line.split(":", 1)[1] not in known} == set()


def test_addresses_are_urls_of_the_parts():
    assert address.source() == URLS["Source"]
    assert address.source("stages/train") == f"{URLS['Source']}/tree/main/stages/train"
    assert address.report("index.html") == address.report() == URLS["Report"]
    assert address.report("index.zh.html") == f"{URLS['Report']}index.zh.html"
    assert URLS["Report"].endswith("/"), "what follows is appended"


def test_a_citation_names_the_project_as_its_licence_does():
    assert (CITATION["url"], CITATION["repository-code"]) == (URLS["Report"], URLS["Source"])
    [author] = CITATION["authors"]
    assert author["name"].lower() in (ROOT / "LICENSE").read_text()
