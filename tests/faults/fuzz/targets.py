"""What reads files, each with the files that are tried on it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lab.claims.book_order import BOOK_ORDER
from lab.core import params
from lab.core.files import read_json, read_rows
from lab.data import idx
from lab.tools import classify, profiles, references, retest, stage_times
from stages.fetch.measure.params import Params as FetchParams
from stages.probe.__main__ import params_models
from tests.faults.fuzz import project, readers
from tests.faults.fuzz.inputs import Kind

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
    return found | _files("train/*/metrics.json", "json") | _files("train/*/*.csv", "csv")


RAW = "data/FashionMNIST/raw"
PICTURES: dict[str, Kind] = {f"a.{name.lower()}": "bytes" for name in project.FORMATS}
TARGETS: dict[str, Target] = {
    "idx": Target(
        {f"{RAW}/t10k-labels-idx1-ubyte": "bytes"},
        lambda path: idx.decode(path.read_bytes(), 1),
        (),
        (ValueError,),
    ),
    "images": Target(
        {f"{RAW}/t10k-images-idx3-ubyte": "bytes", f"{RAW}/t10k-labels-idx1-ubyte": "bytes"},
        readers.images,
        DATA,
    ),
    "airfoil": Target({"data/airfoil/airfoil_self_noise.dat": "csv"}, readers.airfoil, DATA),
    "source": Target({"data/source.json": "json"}, readers.source, DATA),
    "gzip": Target({"small.gz": "bytes"}, readers.gunzip, DATA),
    "json": Target({"reports/hardware.json": "json"}, read_json, RESULTS, share=2),
    "rows": Target({"reports/together/rows.csv": "csv"}, read_rows, RESULTS, share=2),
    "params": Target(
        {"small.json": "yaml"}, lambda path: params.load(FetchParams, path), PARAMS, share=4
    ),
    "all params": Target(
        {"params.yaml": "yaml"}, lambda path: params.check(params_models(), path), PARAMS, share=2
    ),
    "profiles": Target(
        {"profiles/smoke.yaml": "yaml", "profiles/laptop.yaml": "yaml"},
        lambda path: readers.command(profiles.main, "smoke"),
        PARAMS,
        share=4,
    ),
    "checkpoint": Target(
        {"checkpoint.pt": "bytes"}, readers.checkpoint, CHECKPOINT, more=project.other_weights
    ),
    "weights": Target(
        {f"models/{project.RUN}.pt": "bytes"},
        readers.weights,
        CHECKPOINT,
        more=project.other_weights,
        share=2,
    ),
    "picture": Target(PICTURES, classify.read_picture, DATA, share=3),
    "predict": Target(
        {
            **{"a.png": "bytes", "params.yaml": "yaml"},
            f"reports/train/{project.RUN}/metrics.json": "json",
        },
        readers.predict,
        (*PARAMS, *RESULTS, *CHECKPOINT),
        share=3,
    ),
    "doctor": Target(
        {
            **{"dvc.lock": "yaml", "params.yaml": "yaml", "data/source.json": "json"},
            ".dvc/tmp/rwlock": "json",
        },
        readers.doctor,
        (*PARAMS, *DATA, *MACHINE),
        share=3,
    ),
    "compare": Target(
        {
            **{"reports/reference/amd-epyc-avx512.json": "json", "reports/hardware.json": "json"},
            "reports/bench_async/metrics.json": "json",
        },
        readers.compare_with_reference,
        (*RESULTS, *PARAMS),  # no reference of that name
        share=3,
    ),
    "snapshot": Target(
        {
            **{"reports/hardware.json": "json", "reports/bench_async/metrics.json": "json"},
            **{"reports/claims/rows.csv": "csv", "params.yaml": "yaml"},
        },
        lambda path: readers.command(references.main, "mine"),
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
        {
            **_files("*/metrics.json", "json"),
            **_files("train/*/metrics.json", "json"),
            **_files("bench_*/rows.csv", "csv"),
        },
        readers.judge_claims,
        (),
    ),
    "section": Target(_files_of_sections(), readers.section, (), share=6),
    "drawn section": Target(_files_of_sections(), readers.drawn_section, ()),
    "page": Target(
        {
            **{"reports/hardware.json": "json", "data/source.json": "json"},
            **{"reports/retest/1.json": "json", "reports/claims/rows.csv": "csv"},
            "reports/reference/amd-epyc-avx512.json": "json",
        },
        readers.page,
        RESULTS,
        share=4,
    ),
    "catalogue": Target({"zh.po": "text"}, readers.read_catalogue, MACHINE),
}
