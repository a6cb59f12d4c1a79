"""params.yaml: every key has a comment, and somebody reads it."""

import ast
import importlib
import re
from collections.abc import Iterator
from typing import get_args

import pytest
from pydantic import BaseModel

from lab.core.params import read_yaml
from lab.tools.profiles import leaves
from tests.helpers import ROOT
from tests.pipeline.imports import closure
from tests.pipeline.test_architecture import PIPELINE, STAGES

WITH_PARAMS = [
    name for name in STAGES if (ROOT / "stages" / name / "measure" / "params.py").is_file()
]


def test_every_key_has_a_comment():
    """Its meaning and unit, on its line or, of a section, on the line before."""
    lines = (ROOT / "params.yaml").read_text().splitlines()
    keys = [i for i, line in enumerate(lines) if re.match(r" *[a-z]\w*:( |$)", line)]
    bare = [lines[i] for i in keys if "#" not in lines[i] and not lines[i - 1].startswith("#")]
    assert not bare, "\n".join(bare)


def attributes(files: set[str]) -> set[str]:
    """The attributes, and the keys of mappings, that files read of anything."""
    trees = (ast.parse((ROOT / file).read_text()) for file in files)
    nodes = [node for tree in trees for node in ast.walk(tree)]
    keys = (node.slice for node in nodes if isinstance(node, ast.Subscript))
    return {node.attr for node in nodes if isinstance(node, ast.Attribute)} | {
        str(key.value) for key in keys if isinstance(key, ast.Constant)
    }


def fields(model: type[BaseModel]) -> Iterator[str]:
    """The names of a model's fields, those of the models in it included."""
    for name, field in model.model_fields.items():
        yield name
        for part in (field.annotation, *get_args(field.annotation)):
            if isinstance(part, type) and issubclass(part, BaseModel):
                yield from fields(part)


@pytest.mark.parametrize("name", WITH_PARAMS)
def test_every_key_is_read(name):
    """A key that nobody reads makes DVC run a stage again for nothing.

    Of another stage's section a stage may read a part: DVC watches that part for it.
    """
    model = importlib.import_module(f"stages.{name}.measure.params").Params
    others = set(STAGES) - {name}
    own = {path.relative_to(ROOT).as_posix() for path in (ROOT / "stages" / name).rglob("*.py")}
    read = attributes(closure(ROOT / "stages" / name / "__main__.py"))
    own_sections = [field for field in model.model_fields if field not in others]
    parts = [model.model_fields[field].annotation for field in own_sections]
    keys = {key for part in parts if hasattr(part, "model_fields") for key in fields(part)}
    assert not (keys | set(own_sections)) - read, name
    assert not set(model.model_fields) - attributes(own), f"{name}: a section that nobody reads"


def test_dvc_watches_every_key():
    entries = [entry for stage in PIPELINE.values() for entry in stage.get("params", [])]
    watched = [entry for entry in entries if isinstance(entry, str)]
    roots = {entry.replace(".${item.run}", "") for entry in watched}
    missing = [
        key
        for key, _ in leaves(read_yaml(ROOT / "params.yaml"))
        if not any(key == root or key.startswith(f"{root}.") for root in roots)
    ]
    # how processes meet decides no result
    assert [key for key in missing if not key.startswith("train.distributed.")] == []
