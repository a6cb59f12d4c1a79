"""params.yaml, read as DVC reads it (YAML 1.2: `1e-3` is a number) and checked before any work.

A stage declares what it reads as a `Params` model whose fields are top-level keys of params.yaml.
All mistakes in the file are reported at once, one line each.
"""

import contextlib
import re
import reprlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Self, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from lab.core.errors import MachineError, ParamsError, instead_of
from lab.core.files import MERGE_MARK, MERGED

PARAMS_FILE = Path("params.yaml")
COMMITTED = " (`git show HEAD:params.yaml` has it)"
MOST_MISTAKES = 40  # that are reported
ODD_SPACE = re.compile("^[^#\n]*?([\u00a0\u2000-\u200b\u202f\u3000])", re.MULTILINE)
COMMA = re.compile(r"\d+,\d+")
_CHECKS: list[Callable[[], None]] = []  # of `unchanged`


class Section(BaseModel):
    """A part of params.yaml: exact types, no unknown keys, no NaN."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    def but(self, **changes: Any) -> Self:
        """Return a copy with other values, which are not validated."""
        if unknown := changes.keys() - type(self).model_fields.keys():
            raise TypeError(f"{type(self).__name__} has no {', '.join(sorted(unknown))}")
        return self.model_copy(update=changes)


P = TypeVar("P", bound=Section)
M = TypeVar("M", bound=BaseModel)


def load(
    model: type[P],
    path: Path = PARAMS_FILE,
    decisive: Callable[[P], object] = lambda params: params,
) -> P:
    """Return the part of params.yaml that `model` describes; other keys belong to other stages.

    The command fails at its end if `decisive(params)` has changed in the file meanwhile: see
    `unchanged`.

    Raises:
        ParamsError: the file is missing or not YAML, or values are wrong: one line per mistake.
    """
    found = _part(model, path)

    def check_unchanged() -> None:
        if decisive(_part(model, path)) != decisive(found):
            raise ParamsError(
                f"{path}: changed while this ran, and DVC would take the results for those of the"
                " new values; run the same command again"
            )

    _CHECKS.append(check_unchanged)
    return found


@contextlib.contextmanager
def unchanged() -> Iterator[None]:
    """Fail at the end if params that were loaded within the context have changed since.

    DVC reads params when a stage has ended, and would attribute the results to the new values.

    Raises:
        ParamsError: the params have changed.
    """
    _CHECKS.clear()
    yield
    for check_unchanged in _CHECKS:
        check_unchanged()


def _part(model: type[P], path: Path) -> P:
    document = read_yaml(path)
    known = {key: document[key] for key in model.model_fields if key in document}
    return validated(model, known, str(path), COMMITTED)


def check(models: Iterable[type[Section]], path: Path = PARAMS_FILE) -> None:
    """Check all of params.yaml against the models of all stages; unknown keys are mistakes.

    Raises:
        ParamsError: as in `load`.
    """
    fields: dict[str, Any] = {}
    for model in models:
        fields |= {
            name: (field.rebuild_annotation(), ...) for name, field in model.model_fields.items()
        }
    every = create_model("AllParams", __base__=Section, **fields)
    validated(every, read_yaml(path), str(path), COMMITTED)


def read_yaml(path: Path) -> dict[str, Any]:
    """Return the mapping in a YAML 1.2 file.

    Raises:
        ParamsError: no such file, not UTF-8, not YAML (duplicate keys, tabs), or not a mapping.
        MachineError: the file cannot be read.
    """
    text = ""
    try:
        text = path.read_text(encoding="utf-8-sig")
        document = YAML(typ="safe").load(text)
    except FileNotFoundError:
        raise ParamsError(
            f"{path}: no such file; run in the project's folder, or `git checkout {path}`"
        ) from None
    except PermissionError as error:
        raise MachineError(
            f"{path}: cannot be read ({error.strerror}); fix the file's permissions"
        ) from None
    except UnicodeDecodeError as error:
        raise ParamsError(f"{path}: not UTF-8 text ({error.reason}); save it as UTF-8") from None
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else None
        problem = " ".join(str(getattr(error, "problem", None) or error).split())
        if mark and text.startswith("\t", mark.index):
            problem = "a tab, where YAML takes spaces only"
        if odd := ODD_SPACE.search(text):
            line = text.count("\n", 0, odd.end()) + 1
            problem = f"a space that is none of YAML's (U+{ord(odd[1]):04X})"
        if MERGE_MARK.search(text):
            problem = MERGED
        where = f", line {line}" if line else ""
        raise ParamsError(f"{path}{where}: {problem}; fix the YAML there") from None
    except (OSError, ValueError, ArithmeticError) as error:
        # such as an invalid number, or a folder
        reason = (getattr(error, "strerror", None) or str(error)).partition(";")[0]
        raise ParamsError(
            f"{path}: {reason}; `git checkout {path}` brings the committed one"
        ) from None
    if not isinstance(document, dict):
        raise ParamsError(
            f"{path}: expected sections with keys, got {type(document).__name__};"
            f" `git checkout {path}` brings the committed one"
        )
    return document


def validated(model: type[M], document: dict[str, Any], where: str, found_in: str = "") -> M:
    """Validate a document against its model.

    Args:
        model: describes the document.
        document: the contents of a YAML file, or a part of them.
        where: the document's place, with which each line of the error begins.
        found_in: where a missing key can be found.

    Raises:
        ParamsError: the document has mistakes; one line each.
    """
    try:
        return model.model_validate(document)
    except ValidationError as errors:
        mistakes = errors.errors(include_url=False)
        lines = [
            f"{where}: {_describe(error, model, found_in)}" for error in mistakes[:MOST_MISTAKES]
        ]
        if more := len(mistakes) - len(lines):
            lines.append(f"{where}: {more} more mistakes; fix these first")
        raise ParamsError("\n".join(lines)) from None


def _describe(error: ErrorDetails, model: type[BaseModel], found_in: str) -> str:
    """Return a mistake in one line: the key, what was expected, what was found."""
    *parents, last = [_shown(part) for part in error["loc"] if part != "[key]"] or ["?"]
    key = ".".join([*parents, last])
    if error["type"] == "extra_forbidden":
        return f"{key}: unknown key; {instead_of(last, _keys_at(model, parents))}"
    if error["type"] == "missing":
        return f"{key}: missing key; add it{found_in}"
    message = error["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    message = message.replace("String should match pattern", "a word of the pattern")
    message = message.replace("String should have", "a word of")
    message = message.replace("a valid integer", "an integer").replace("a valid ", "a ")
    if message.startswith(("greater ", "less ")):
        message = f"a number {message}"
    found = "" if error["type"] == "value_error" else f", got {_SHORT.repr(error['input'])}"
    if COMMA.fullmatch(str(error["input"])):
        found += "; numbers have no comma: 0.1, 60000"
    return f"{key}: expected {message}{found}"


_SHORT = reprlib.Repr()
_SHORT.maxlevel, _SHORT.maxstring, _SHORT.maxother = 1, 80, 80


def _shown(part: int | str) -> str:
    """Return a key to print in a message: short, and without terminal control characters."""
    text = str(part)
    return text if text.isprintable() and len(text) <= _SHORT.maxstring else _SHORT.repr(text)


def _keys_at(model: Any, parents: Iterable[str]) -> list[str]:
    """Return the keys of the section at `parents`; a mapping's entries all share one model."""
    for key in parents:
        if get_origin(model) is dict:
            model = get_args(model)[1]
        elif isinstance(model, type) and issubclass(model, BaseModel) and key in model.model_fields:
            model = model.model_fields[key].annotation
    return list(getattr(model, "model_fields", {}))
