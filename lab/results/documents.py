"""JSON files with a schema: the machine's facts, and the conditions that contain them."""

import contextlib
import functools
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lab.core.errors import DataError, LabError, NotThereError
from lab.core.files import CONDITIONS, FIX, HARDWARE_FILE, ROWS, read_json, read_rows
from lab.results.disturbances import disturbances_of
from lab.results.measurements import Measurement, Results, measurements_of


class Document(BaseModel):
    """The keys that a document must at least have, with exact types."""

    model_config = ConfigDict(strict=True, frozen=True)


class Accelerator(Document):
    """The GPUs; `None` where there are none."""

    count: int
    names: list[str] | None


class Cpu(Document):
    """The processor and its memory."""

    instructions: str
    model: str
    omp_num_threads: str | None
    quota_cores: float | None
    ram_gib: int
    usable_cores: int


class Software(Document):
    """The versions that matter."""

    os: str
    python: str
    torch: str
    torchvision: str


class Hardware(Document):
    """The machine's facts, which lab.machine.hardware finds."""

    accelerator: Accelerator
    cpu: Cpu
    software: Software


class Conditions(Document):
    """A conditions.json: metrics that are not compared, and the machine if times depend on it."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, float | str] = Field(init=False)
    machine: Hardware | None = None


def bring_back(path: Path) -> str:
    """Return the advice for a damaged file that no stage produces."""
    return f"`git checkout {path}` brings it back if it is committed, else delete it"


def read_document(path: Path, form: type[BaseModel], fix: str) -> dict[str, Any]:
    """Return the object in a JSON file, checked against `form`.

    Raises:
        DataError: the file is missing, damaged or malformed; the message ends with `fix`.
        MachineError: the file cannot be read.
    """
    document = read_json(path, fix)
    try:
        form.model_validate(document)
    except ValidationError as errors:
        first = errors.errors(include_url=False, include_input=False)[0]
        key = " ".join(".".join(map(str, first["loc"])).split())  # on one line, whatever it is
        raise DataError(f"{path}: damaged ({key}: {first['msg'].lower()}); {fix}") from None
    return document


def read_hardware(path: Path = HARDWARE_FILE) -> dict[str, Any]:
    """Return this machine's facts.

    Raises:
        DataError: the file is missing or damaged.
        MachineError: the file cannot be read.
    """
    return read_document(path, Hardware, "`invoke repro --stage probe` writes it again")


def read_results(folder: Path) -> Results:
    """Return a stage's measurements and their conditions.

    Raises:
        NotThereError: the rows are missing, or the measurement has not ended.
        DataError: a file is damaged.
        MachineError: a file cannot be read.
    """
    path = folder / ROWS
    if path.is_file() and not (folder / CONDITIONS).is_file():
        raise NotThereError(f"{folder}: its measurement did not end; `invoke repro` resumes it")
    content = path.read_bytes() if path.is_file() else b""
    conditions = {k: v for k, v in read_conditions(folder).items() if k != "machine"}
    return Results(_measurements(path, content), conditions)


@functools.lru_cache(maxsize=2)
def _measurements(path: Path, content: bytes) -> list[Measurement]:
    """Parse and cache the measurements of one file, which findings, texts and figures all read."""
    return measurements_of(read_rows(path))


def disturbed_stages(reports: Path) -> list[str]:
    """Return the stages whose times decide nothing; runs of `train` claim none and are left out."""
    found = []
    for path in sorted(reports.glob(f"*/{CONDITIONS}")):
        with contextlib.suppress(LabError):  # a damaged file; the stage's page reports it
            if disturbances_of(read_conditions(path.parent)):
                found.append(path.parent.name)
    return found


def read_conditions(folder: Path) -> dict[str, Any]:
    """Return the contents of a folder's conditions.json; empty if there is none.

    Raises:
        DataError: the file is damaged.
        MachineError: the file cannot be read.
    """
    path = folder / CONDITIONS
    return read_document(path, Conditions, FIX) if path.is_file() else {}
