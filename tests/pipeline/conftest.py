"""The page of the committed results, drawn once for what is checked of all of it."""

import html
import importlib
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from lab.core import files
from lab.data import datasets
from lab.report.language import speaking
from lab.report.page import Section
from stages.report import catalogue, sections
from tests.helpers import ROOT, write_data

TEXT = re.compile(r"<text\b[^>]*>([^<]+)</text>")


@dataclass
class Told:
    """What the sections of the page read and say."""

    read: set[tuple[str, str]] = field(default_factory=set)  # folder under reports, key
    asked: dict[str, set[str]] = field(default_factory=dict)  # of the catalogue, by stage
    sentences: dict[str, list[str]] = field(default_factory=dict)  # English, by stage
    texts: dict[str, set[str]] = field(default_factory=dict)  # in the Chinese figures, by stage
    problems: list[str] = field(default_factory=list)


class Asked(dict[str, str]):
    """A catalogue that notes which messages it is asked for."""

    def __init__(self, catalogue: dict[str, str], asked: set[str]) -> None:
        super().__init__(catalogue)
        self._asked = asked

    def get(self, key: str, default: Any = None) -> Any:
        self._asked.add(key)
        return super().get(key, default)


class Recorded(dict[str, Any]):
    """A stage's metrics that note which keys are read; going through all of them reads none."""

    def __init__(self, folder: str, found: dict[str, Any], read: set[tuple[str, str]]) -> None:
        super().__init__(found)
        self._folder, self._read = folder, read

    def __getitem__(self, key: str) -> Any:
        self._read.add((self._folder, key))
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self._read.add((self._folder, key))
        return super().get(key, default)


@contextmanager
def noting(read: set[tuple[str, str]]) -> Iterator[None]:
    """Have `read_json` note, in every module that imported it, what is read of metrics."""
    original = files.read_json

    def read_json(path: Path, *more: Any) -> dict[str, Any]:
        found = original(path, *more)
        if path.name != "metrics.json":
            return found
        return Recorded(path.parent.relative_to("reports").as_posix(), found, read)

    with pytest.MonkeyPatch.context() as patch:
        for module in list(sys.modules.values()):
            if getattr(module, "read_json", None) is original:
                patch.setattr(module, "read_json", read_json)
        yield


@pytest.fixture(scope="session")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """What the page says of the committed reports; its images are look-alikes."""
    project, found = tmp_path_factory.mktemp("page"), Told()
    write_data(project / "data", train=400, test=datasets.FASHION_COUNTS["t10k"])
    (project / "reports").symlink_to(ROOT / "reports")
    (project / "params.yaml").symlink_to(ROOT / "params.yaml")
    importlib.import_module("stages.report.__main__")
    chinese = catalogue.read(catalogue.CHINESE)
    with pytest.MonkeyPatch.context() as patch, noting(found.read):
        patch.chdir(project)
        for stage, build in {
            **sections.builders(),
            "report": lambda: Section("report", *[""] * 4, [], [sections.samples()]),
        }.items():
            asked, texts = (each.setdefault(stage, set()) for each in (found.asked, found.texts))
            try:
                english = build()
                found.sentences[stage] = [english.answer, *english.findings]
                with speaking(catalogue.CHINESE, Asked(chinese, asked)):
                    for figure in build().figures:
                        figure.draw(project)
                        for file in figure.files:
                            texts |= set(
                                map(html.unescape, TEXT.findall((project / file).read_text()))
                            )
            except Exception as error:  # the other stages' tests should not hang on this one's
                found.problems.append(f"{stage}: {type(error).__name__}: {error}")
    return found
