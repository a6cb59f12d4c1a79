"""What reads files, each with the files that are tried on it."""

import contextlib
import io
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

import psutil

from lab.claims.book_order import BOOK_ORDER
from lab.core import exit_codes, params
from lab.core.errors import LabError
from lab.core.files import read_json, read_rows
from lab.data import datasets, idx
from lab.data.fetching.download import unpacked
from lab.data.fetching.sources import RemoteFile
from lab.report.language import speaking
from lab.report.page import Figure
from lab.tools import classify, compare, profiles, references, retest, stage_times
from lab.tools.doctor import dvc_state, lock_file, parameters
from lab.tools.doctor.__main__ import findings
from lab.tools.doctor.data import data_sets
from stages.claims import __main__ as claims
from stages.fetch.params import Params as FetchParams
from stages.probe.__main__ import params_models
from stages.report import catalogue, content, sections
from tests.faults.fuzz import project
from tests.faults.fuzz.inputs import SCRIPT, Kind

PARAMS, DATA, MACHINE, CHECKPOINT = (2,), (3,), (4,), (5,)
RESULTS = (3,)


@dataclass(frozen=True)
class Target:
    """Something that reads.

    Attributes:
        reads: the files of the project that it is tried with, and their kind.
        call: reads the one of these that was changed.
        codes: the exit codes with which it may refuse.
        also: other exceptions that are a documented refusal.
        share: of the time of a campaign.
        more: other valid contents.
    """

    reads: Mapping[str, Kind]
    call: Callable[[Path], object]
    codes: tuple[int, ...]
    also: tuple[type[Exception], ...] = ()
    share: float = 1.0
    more: Callable[[], list[bytes]] = field(default=list)

    @property
    def reads_bytes(self) -> bool:
        """Whether it reads no documents."""
        return set(self.reads.values()) <= {"bytes", "text"}


def _files(pattern: str, kind: Kind) -> dict[str, Kind]:
    """The results of the committed run that match, each of `kind`."""
    found = sorted((project.ROOT / "reports").glob(pattern))
    return {path.relative_to(project.ROOT).as_posix(): kind for path in found}


def _files_of_sections() -> dict[str, Kind]:
    found: dict[str, Kind] = {}
    for stage in ("claims", *BOOK_ORDER):
        found |= _files(f"{stage}/metrics.json", "json") | _files(f"{stage}/rows.csv", "csv")
    return found


def _hashed(path: Path) -> None:
    """Have `source.json` vouch for a changed file, so that what is behind the hash reads it."""
    file = Path("data/source.json")
    document = json.loads(file.read_bytes())
    for name in document["sha256"]:
        document["sha256"][name] = datasets.sha256((Path("data") / name).read_bytes())
    file.write_text(json.dumps(document))


def _images(path: Path) -> None:
    _hashed(path)
    datasets.read_fashion_mnist("t10k")


def _airfoil(path: Path) -> None:
    _hashed(path)
    datasets.read_airfoil()


def _source(path: Path) -> None:
    datasets.dataset_name()
    datasets.read_airfoil()


def _weights(path: Path) -> None:
    """With its hash in the run's metrics, as if a run had made it."""
    project.vouch_for_weights(Path())
    classify.load_net(project.RUN)


def _checkpoint(path: Path) -> None:
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


def _command(main: Callable[[], None], *words: str) -> str:
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


def _predict(path: Path) -> None:
    picture = str(path) if path.suffix in (".png", ".gif", ".bmp") else "a.png"
    _command(classify.main, picture, project.RUN)


def _doctor(path: Path) -> None:
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


def _compare(path: Path) -> None:
    _command(compare.main, "--reference", "amd-epyc-2-cores")


def _claims(path: Path) -> None:
    """The verdicts on the claims of one folder: it never refuses."""
    folder = path.parent.relative_to("reports").as_posix()
    findings = claims.measure(claims.gather(Path("reports"), [folder]))
    assert claims.summarise(findings)["total"] == len(findings)


def _section(path: Path) -> None:
    """The section of the page that tells of a file, without figures, which take long to draw."""
    with mock.patch.object(Figure, "draw"):
        _drawn_section(path)


def _drawn_section(path: Path) -> None:
    """The section of the page that tells of a file; what cannot be shown is said there."""
    stage = path.parts[1]
    build = sections.builders()[stage]
    with mock.patch.object(sections, "builders", lambda: {stage: build}):
        problem = sections.draw_stage(stage, "en", Path("figures"))
    made = sections.without_results(stage, problem) if problem else build()
    _render([made])


def _page(path: Path) -> None:
    """All of the page but its figures, for the files that all of it reads."""

    def write() -> None:
        made = sections.builders()
        _render([build() for name, build in made.items() if name in ("retest", "references")])

    _command(write)


def _render(made: list[sections.Section]) -> None:
    templates = content.environment()
    with speaking("en", {}):
        filled_in = content.content(made, sections.samples(), Path("figures"))
        for template in ("index.html.j2", "README.md.j2"):
            text = templates.get_template(template).render(filled_in)
            assert SCRIPT not in text, template
            text.encode()


def _gunzip(path: Path) -> None:
    file = RemoteFile("fashion-mnist", "small.gz", size=200, unpacked_size=200, sha256="")
    assert len(unpacked(path.read_bytes(), file)) == file.unpacked_size


def _catalogue(path: Path) -> None:
    with mock.patch.object(catalogue, "files", lambda language: [path]):
        catalogue.read(catalogue.CHINESE)


RAW = "data/FashionMNIST/raw"
PICTURES: dict[str, Kind] = {f"a.{name.lower()}": "bytes" for name in project.FORMATS}
TARGETS: dict[str, Target] = {
    "idx": Target(
        {f"{RAW}/t10k-labels-idx1-ubyte": "bytes"},
        lambda path: idx.decode(path.read_bytes(), 1),
        (),
        (ValueError,),
        share=3,
    ),
    "images": Target(
        {f"{RAW}/t10k-images-idx3-ubyte": "bytes", f"{RAW}/t10k-labels-idx1-ubyte": "bytes"},
        _images,
        DATA,
        share=1,
    ),
    "airfoil": Target({"data/airfoil/airfoil_self_noise.dat": "csv"}, _airfoil, DATA),
    "source": Target({"data/source.json": "json"}, _source, DATA, share=2),
    "gzip": Target({"small.gz": "bytes"}, _gunzip, DATA, share=3),
    "json": Target({"reports/hardware.json": "json"}, read_json, RESULTS, share=4),
    "rows": Target({"reports/together/rows.csv": "csv"}, read_rows, RESULTS, share=4),
    "params": Target(
        {"small.json": "yaml"}, lambda path: params.load(FetchParams, path), PARAMS, share=3
    ),
    "all params": Target(
        {"params.yaml": "yaml"}, lambda path: params.check(params_models(), path), PARAMS
    ),
    "profiles": Target(
        {"profiles/smoke.yaml": "yaml", "profiles/laptop.yaml": "yaml"},
        lambda path: _command(profiles.main, "smoke"),
        PARAMS,
    ),
    "checkpoint": Target(
        {"checkpoint.pt": "bytes"}, _checkpoint, CHECKPOINT, more=project.other_weights, share=2
    ),
    "weights": Target(
        {f"models/{project.RUN}.pt": "bytes"},
        _weights,
        CHECKPOINT,
        more=project.other_weights,
        share=2,
    ),
    "picture": Target(PICTURES, classify.read_picture, DATA, share=4),
    "predict": Target(
        {
            **{"a.png": "bytes", "params.yaml": "yaml"},
            f"reports/train/{project.RUN}/metrics.json": "json",
        },
        _predict,
        (*PARAMS, *RESULTS, *CHECKPOINT),
    ),
    "doctor": Target(
        {
            **{"dvc.lock": "yaml", "params.yaml": "yaml", "data/source.json": "json"},
            ".dvc/tmp/rwlock": "json",
        },
        _doctor,
        (*PARAMS, *DATA, *MACHINE),
    ),
    "compare": Target(
        {
            **{"reports/reference/amd-epyc-2-cores.json": "json", "reports/hardware.json": "json"},
            "reports/bench_async/metrics.json": "json",
        },
        _compare,
        (*RESULTS, *PARAMS),  # no reference of that name
        share=2,
    ),
    "snapshot": Target(
        {
            **{"reports/hardware.json": "json", "reports/bench_async/metrics.json": "json"},
            **{"reports/claims/rows.csv": "csv", "params.yaml": "yaml"},
        },
        lambda path: _command(references.main, "mine", "--snapshot"),
        (*RESULTS, *PARAMS),
    ),
    "retest": Target(
        {"reports/retest/1.json": "json"}, lambda path: retest.agreement_of(retest.runs()), RESULTS
    ),
    "stage times": Target(
        {"reports/stage_seconds.json": "json", ".lab/stage_seconds.json": "json"},
        lambda path: stage_times.StageTimes(stage_times.known_seconds(), tell=len).hear(
            "Running stage 'probe':"
        ),
        RESULTS,
    ),
    "claims": Target(
        {**_files("*/metrics.json", "json"), **_files("bench_*/rows.csv", "csv")}, _claims, ()
    ),
    "section": Target(_files_of_sections(), _section, (), share=3),
    "drawn section": Target(_files_of_sections(), _drawn_section, ()),
    "page": Target(
        {
            **{"reports/hardware.json": "json", "data/source.json": "json"},
            **{"reports/retest/1.json": "json", "reports/claims/rows.csv": "csv"},
            "reports/reference/amd-epyc-2-cores.json": "json",
        },
        _page,
        RESULTS,
    ),
    "catalogue": Target({"zh.po": "text"}, _catalogue, MACHINE),
}
