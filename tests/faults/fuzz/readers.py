"""Calls of what reads files, as whole commands where they are commands."""

import contextlib
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import psutil

from lab.core import exit_codes
from lab.core.errors import LabError
from lab.data import datasets
from lab.data.fetching.download import unpacked
from lab.data.fetching.sources import RemoteFile
from lab.report.language import speaking
from lab.report.page import Figure
from lab.tools import classify, compare
from lab.tools.doctor import dvc_state, lock_file, parameters
from lab.tools.doctor.__main__ import findings
from lab.tools.doctor.data import data_sets
from stages.claims import __main__ as claims
from stages.report import catalogue, content, sections
from tests.faults.fuzz import project
from tests.faults.fuzz.inputs import SCRIPT


def hashed(path: Path) -> None:
    """Have `source.json` vouch for a changed file, so that what is behind the hash reads it."""
    file = Path("data/source.json")
    document = json.loads(file.read_bytes())
    for name in document["sha256"]:
        document["sha256"][name] = datasets.sha256((Path("data") / name).read_bytes())
    file.write_text(json.dumps(document))


def images(path: Path) -> None:
    hashed(path)
    datasets.read_fashion_mnist("t10k")


def airfoil(path: Path) -> None:
    hashed(path)
    datasets.read_airfoil()


def source(path: Path) -> None:
    datasets.dataset_name()
    datasets.read_airfoil()


def weights(path: Path) -> None:
    """With its hash in the run's metrics, as if a run had made it."""
    project.vouch_for_weights(Path())
    classify.load_net(project.RUN)


def checkpoint(path: Path) -> None:
    """With the hash in its name, as one that was made so."""
    found = project.checkpoints()
    found.clear()
    found.folder.mkdir(parents=True)
    written = path.read_bytes()
    name = f"00001-00001-{datasets.sha256(written)[:16]}.pt"
    (found.folder / name).write_bytes(written)
    (found.folder / "00002-00001-0123456789abcdef.pt").write_bytes(written)
    if (kept := found.latest()) is not None:
        found.decode(kept)


def command(main: Callable[[], None], *words: str) -> str:
    """What a command prints; its errors are a LabError again.

    Raises:
        LabError: what it said, with its exit code.
        AssertionError: it said something else.
    """
    out, errors = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["command", *words]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(errors),
    ):
        code = exit_codes.run(main)
    lines = errors.getvalue().splitlines()
    if code == 0:
        return out.getvalue()
    assert lines and all(line.startswith("ERROR: ") for line in lines), errors.getvalue()[:500]
    error = LabError("\n".join(line.removeprefix("ERROR: ") for line in lines))
    error.exit_code = code
    raise error


def predict(path: Path) -> None:
    picture = str(path) if path.suffix in (".png", ".gif", ".bmp") else "a.png"
    command(classify.main, picture, project.RUN)


def doctor(path: Path) -> None:
    """The checks that read files; a failed one is a refusal."""
    with (
        mock.patch.object(psutil, "process_iter", return_value=[]),
        mock.patch.object(lock_file, "_git", return_value=""),
    ):
        for check in (parameters.parameters, lock_file.lock_file, dvc_state.who_is_busy, data_sets):
            for finding in findings(check):
                message = str(finding)
                assert message and len(message.splitlines()) == 1, finding
                assert "not looked at" not in message, finding
                if finding.level == "FAIL":
                    error = LabError(message)
                    error.exit_code = finding.exit_code
                    raise error


def compare_with_reference(path: Path) -> None:
    command(compare.main, "--reference", "amd-epyc-avx512")


def judge_claims(path: Path) -> None:
    """The verdicts on the claims of one folder: it never refuses."""
    folder = path.parent.relative_to("reports").as_posix()
    findings = claims.measure(claims.gather(Path("reports"), [folder]))
    assert claims.summarise(findings)["total"] == len(findings)


def section(path: Path) -> None:
    """The section of the page that tells of a file, without figures, which take long to draw."""
    with mock.patch.object(Figure, "draw"):
        drawn_section(path)


def drawn_section(path: Path) -> None:
    """The section of the page that tells of a file; what cannot be shown is said there."""
    stage = path.parts[1]
    build = sections.builders()[stage]
    with mock.patch.object(sections, "builders", lambda: {stage: build}):
        problem = sections.draw_stage(stage, "en", Path("figures"))
    made = sections.without_results(stage, problem) if problem else build()
    render([made])


def page(path: Path) -> None:
    """All of the page but its figures, for the files that all of it reads."""

    def write() -> None:
        made = sections.builders()
        render([build() for name, build in made.items() if name in ("retest", "references")])

    command(write)


def render(made: list[sections.Section]) -> None:
    templates = content.environment()
    with speaking("en", {}):
        filled_in = content.content(made, sections.samples(), Path("figures"))
        for template in ("index.html.j2", "README.md.j2"):
            text = templates.get_template(template).render(filled_in)
            assert SCRIPT not in text, template
            text.encode()


def gunzip(path: Path) -> None:
    file = RemoteFile("fashion-mnist", "small.gz", size=200, unpacked_size=200, sha256="")
    assert len(unpacked(path.read_bytes(), file)) == file.unpacked_size


def read_catalogue(path: Path) -> None:
    with mock.patch.object(catalogue, "files", lambda language: [path]):
        catalogue.read(catalogue.CHINESE)
