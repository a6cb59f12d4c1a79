"""JSON files that have a form: the machine's facts, and what holds them."""

import contextlib
import functools
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lab.core.errors import DataError, LabError, NotThereError
from lab.core.files import CONDITIONS, HARDWARE_FILE, MEND, ROWS, read_json, read_rows
from lab.results.disturbances import disturbances_of
from lab.results.measurements import Measurement, Results, measurements_of


class Document(BaseModel):
    """What a document must hold at least, in exact types."""

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
    """What to do about a damaged file that no stage makes."""
    return f"`git checkout {path}` brings it back if it is committed, else delete it"


def read_document(path: Path, form: type[BaseModel], mend: str) -> dict[str, Any]:
    """The object in a JSON file, which has a form.

    Raises:
        DataError: missing, damaged, or of another form; the message ends with `mend`.
        MachineError: another user's.
    """
    document = read_json(path, mend)
    try:
        form.model_validate(document)
    except ValidationError as errors:
        first = errors.errors(include_url=False, include_input=False)[0]
        key = " ".join(".".join(map(str, first["loc"])).split())  # on one line, whatever it is
        raise DataError(f"{path}: damaged ({key}: {first['msg'].lower()}); {mend}") from None
    return document


def read_hardware(path: Path = HARDWARE_FILE) -> dict[str, Any]:
    """This machine's facts.

    Raises:
        DataError: missing or damaged.
        MachineError: another user's.
    """
    return read_document(path, Hardware, "`invoke repro --stage probe` writes it anew")


def read_results(folder: Path) -> Results:
    """A stage's rows with the conditions under which they were taken.

    Raises:
        NotThereError: missing, or of a run that has not ended.
        DataError: damaged.
        MachineError: another user's.
    """
    path = folder / ROWS
    if path.is_file() and not (folder / CONDITIONS).is_file():
        raise NotThereError(f"{folder}: its measurement did not end; `invoke repro` goes on")
    content = path.read_bytes() if path.is_file() else b""
    conditions = {k: v for k, v in read_conditions(folder).items() if k != "machine"}
    return Results(_measurements(path, content), conditions)


@functools.lru_cache(maxsize=2)
def _measurements(path: Path, content: bytes) -> list[Measurement]:
    """Those of a file with that content, which findings, texts and figures all read."""
    return measurements_of(read_rows(path))


def disturbed_stages(reports: Path) -> list[str]:
    """The stages whose times decide nothing, without the runs of `train`, which claim none."""
    found = []
    for path in sorted(reports.glob(f"*/{CONDITIONS}")):
        with contextlib.suppress(LabError):  # a damaged file, which the stage's page mentions
            if disturbances_of(read_conditions(path.parent)):
                found.append(path.parent.name)
    return found


def read_conditions(folder: Path) -> dict[str, Any]:
    """What lies in a folder's conditions.json; nothing where there is none.

    Raises:
        DataError: damaged.
        MachineError: another user's.
    """
    path = folder / CONDITIONS
    return read_document(path, Conditions, MEND) if path.is_file() else {}
