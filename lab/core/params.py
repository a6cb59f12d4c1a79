"""params.yaml, read as DVC reads it (YAML 1.2: `1e-3` is a number) and checked before any work.

A stage declares what it reads as a `Params` model whose fields are top-level keys of params.yaml.
All mistakes in the file are reported at once, one line each.
"""

import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from lab.core.errors import ParamsError

PARAMS_FILE = Path("params.yaml")


class Section(BaseModel):
    """A part of params.yaml: exact types, no unknown keys, no NaN."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


P = TypeVar("P", bound=Section)


def load(model: type[P], path: Path = PARAMS_FILE) -> P:
    """The part of params.yaml that `model` describes; other top-level keys belong to other stages.

    Raises:
        ParamsError: the file is missing or not YAML, or values are wrong: one line per mistake.
    """
    document = read_yaml(path)
    return _validated(
        model, {key: document[key] for key in model.model_fields if key in document}, path
    )


def check(models: Iterable[type[Section]], path: Path = PARAMS_FILE) -> None:
    """Check all of params.yaml against the models of all stages; a key in none is a mistake.

    Raises:
        ParamsError: as in `load`.
    """
    fields: dict[str, Any] = {}
    for model in models:
        fields |= {
            name: (field.rebuild_annotation(), ...) for name, field in model.model_fields.items()
        }
    _validated(create_model("AllParams", __base__=Section, **fields), read_yaml(path), path)


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping in a YAML 1.2 file.

    Raises:
        ParamsError: no such file, not UTF-8, not YAML (duplicate keys, tabs), or not a mapping.
    """
    try:
        document = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise ParamsError(
            f"{path}: no such file; run in the project's folder, or `git checkout {path}`"
        ) from None
    except UnicodeDecodeError as error:
        raise ParamsError(f"{path}: not UTF-8 text ({error.reason}); save it as UTF-8") from None
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        problem = " ".join(str(getattr(error, "problem", None) or error).split())
        raise ParamsError(f"{path}{where}: {problem}; mend the YAML there") from None
    if not isinstance(document, dict):
        raise ParamsError(
            f"{path}: expected sections with keys, got {type(document).__name__}; see"
            " profiles/laptop.yaml"
        )
    return document


def _validated(model: type[P], document: dict[str, Any], path: Path) -> P:
    try:
        return model.model_validate(document)
    except ValidationError as errors:
        lines = [f"{path}: {_describe(error, model)}" for error in errors.errors(include_url=False)]
        raise ParamsError("\n".join(lines)) from None


def _describe(error: ErrorDetails, model: type[BaseModel]) -> str:
    """A mistake in one line: the key, what was expected, what was found."""
    *parents, last = [str(part) for part in error["loc"] if part != "[key]"] or ["?"]
    key = ".".join([*parents, last])
    if error["type"] == "extra_forbidden":
        near = difflib.get_close_matches(last, _keys_at(model, parents), n=1)
        return f"{key}: unknown key; " + (f"did you mean {near[0]}?" if near else "remove it")
    if error["type"] == "missing":
        return f"{key}: missing key; add it (profiles/laptop.yaml shows it)"
    message = error["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    found = "" if error["type"] == "value_error" else f", got {error['input']!r}"
    return f"{key}: expected {message}{found}"


def _keys_at(model: Any, parents: Iterable[str]) -> list[str]:
    """The keys of the section at `parents`; all entries of a mapping have the same model."""
    for key in parents:
        if get_origin(model) is dict:
            model = get_args(model)[1]
        elif isinstance(model, type) and issubclass(model, BaseModel) and key in model.model_fields:
            model = model.model_fields[key].annotation
    return list(getattr(model, "model_fields", {}))
