"""A run's name becomes a file's name and a word of a command; no other text in params does."""

import shlex
from collections.abc import Iterator

import pytest
from dvc.parsing.interpolate import to_str
from pydantic import ValidationError

from lab.core.params import read_yaml
from lab.training.run_params import TrainParams
from stages.probe.__main__ import params_models
from tests.helpers import ROOT


@pytest.mark.parametrize("name", ["a", "$(touch b)", "a; touch b", "a' ; touch b; '", "-rf", "a b"])
def test_dvc_quotes_the_name(name):
    assert shlex.split(to_str({"run": name})) == ["--run", name]


@pytest.mark.parametrize(
    "name",
    ["../../a", "/a", "a/b", "-rf", "$(touch b)", "a; touch b", "a b", "a\n", "ż", "", "a" * 65],
)
def test_a_name_is_no_path_no_option_and_no_command(name):
    laptop = read_yaml(ROOT / "profiles" / "laptop.yaml")["train"]
    assert TrainParams.model_validate({**laptop, "runs": {"a_1": {}}}).runs
    with pytest.raises(ValidationError):
        TrainParams.model_validate({**laptop, "runs": {name: {}}})


def free_strings(schema: dict, where: str = "") -> Iterator[str]:
    """Where a JSON schema admits any text."""
    if schema.get("type") == "string" and not {"pattern", "enum", "const"} & set(schema):
        yield where
    for key, part in schema.items():
        for name, inner in part.items() if key in ("properties", "$defs") else ():
            yield from free_strings(inner, f"{where}.{name}")
        if key in ("items", "additionalProperties", "propertyNames") and isinstance(part, dict):
            yield from free_strings(part, f"{where}.{key}")
        if key in ("anyOf", "prefixItems"):
            for inner in part:
                yield from free_strings(inner, where)


def test_every_text_in_params_has_a_pattern():
    assert [
        place for model in params_models() for place in free_strings(model.model_json_schema())
    ] == []
