"""Profiles: each lists the keys of params.yaml that it changes.

laptop.yaml has the committed values of all keys that any other profile changes. A profile is laid
over laptop.yaml, and both over params.yaml as it is: comments, and edits of other keys, stay. The
file has the form that `dvc exp run -S` gives it, so that either changes only the lines it means.
"""

import importlib
import io
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap

from lab.core.errors import ParamsError, instead_of
from lab.core.files import write_atomically
from lab.core.params import PARAMS_FILE, check, read_yaml

PROFILES = Path("profiles")
LAPTOP = "laptop"
OWN_PARAMS = "own params"  # which are no profile's
COMMENTS = 28  # the column where they stand in params.yaml


def check_params() -> int:
    """Check all of params.yaml against what the stages read; the number of these stages.

    Raises:
        ParamsError: as in `load`, all mistakes at once.
    """
    models = importlib.import_module("stages.probe.__main__").params_models()
    check(models)
    return len(models)


def merge(name: str, folder: Path = PROFILES, base: Path = PARAMS_FILE) -> str:
    """The text of params.yaml for a profile, made of what `base` holds.

    Raises:
        ParamsError: no such profile, no YAML, or it has a key that `base` does not.
    """
    known = sorted(path.stem for path in folder.glob("*.yaml"))
    if name not in known:
        raise ParamsError(f"no profile {name!r} in {folder}/; {instead_of(name, known)}")
    try:
        of_runs = read_yaml(base)["train"]["defaults"].keys()
    except (LookupError, TypeError, AttributeError):
        raise ParamsError(f"{base}: no train.defaults; `git checkout {base}`") from None
    yaml = YAML()  # the round-trip kind, which keeps comments, with DVC's settings: its defaults
    document = yaml.load(base.read_text(encoding="utf-8-sig"))
    for each in dict.fromkeys((LAPTOP, name)):
        file = folder / f"{each}.yaml"
        _overlay(document, read_yaml(file), str(file), of_runs)
    _write_lists_out(document)
    text = io.StringIO()
    yaml.dump(document, text)
    return text.getvalue()


def _overlay(
    base: Any, changes: dict[str, Any], file: str, of_runs: Collection[str], parents: str = ""
) -> None:
    """Write a profile's values over those of `base`, which must have the keys; null takes one out.

    An entry of train.runs holds only what differs from train.defaults; it may get any of its keys,
    and a profile may add entries.
    """
    for key, value in changes.items():
        if value is None:
            base.pop(key, None)
            continue
        if key not in base:
            if not _may_be_added(parents, key, of_runs):
                raise ParamsError(
                    f"{file}: {parents}{key}: not in {PARAMS_FILE}; add it there first"
                )
            base[key] = CommentedMap()
            if not base.fa.flow_style():
                # below a list that was made empty, ruamel drops the end of a line without a comment
                base.yaml_add_eol_comment(file, key, COMMENTS)
        if isinstance(value, dict) and isinstance(base[key], dict):
            _overlay(base[key], value, file, of_runs, f"{parents}{key}.")
            if not base[key]:  # a run that is not there, of which all is taken out
                del base[key]
        else:
            base[key] = value


def _write_lists_out(document: Any) -> None:
    """Give lists the form in which DVC leaves all of them, changed or not: an item a line.

    It drops what stands behind an item, blank lines too.
    """
    for key, value in document.items():
        if isinstance(value, dict):
            _write_lists_out(value)
        elif isinstance(value, list):
            document[key] = list(value)
            if key in document.ca.items:
                comment = document.ca.items[key][2]
                comment.value = comment.value.rstrip() + "\n"


def _may_be_added(parents: str, key: str, of_runs: Collection[str]) -> bool:
    return parents == "train.runs." or (parents.startswith("train.runs.") and key in of_runs)


def in_use(folder: Path = PROFILES) -> str:
    """The name of the profile whose values params.yaml has, or OWN_PARAMS."""
    here = read_yaml(PARAMS_FILE)
    names = sorted(path.stem for path in folder.glob("*.yaml"))
    return next(
        (n for n in names if YAML(typ="safe", pure=True).load(merge(n, folder)) == here), OWN_PARAMS
    )


def is_smoke(folder: Path = PROFILES) -> bool:
    """Whether params.yaml has all values of the profile whose numbers mean nothing."""
    file = folder / "smoke.yaml"
    if not file.is_file():
        return False
    here = dict(leaves(read_yaml(PARAMS_FILE)))
    return all(here.get(key) == value for key, value in leaves(read_yaml(file)))


def leaves(document: Any, parents: str = "") -> Iterator[tuple[str, Any]]:
    """Each value of nested mappings, with its dotted key."""
    for key, value in document.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{parents}{key}.")
        else:
            yield f"{parents}{key}", value


def write_profile(name: str) -> None:
    """Write a profile to params.yaml, and print what changed."""
    text = merge(name)
    try:
        before = dict(leaves(read_yaml(PARAMS_FILE)))
    except ParamsError:  # none, or what a profile is there to mend
        before = {}
    write_atomically(PARAMS_FILE.resolve(), text.encode())  # it may be a link
    after = dict(leaves(read_yaml(PARAMS_FILE)))
    changed = [key for key in before | after if before.get(key) != after.get(key)]
    for key in changed:
        print(f"{key}: {before.get(key, '(none)')} -> {after.get(key, '(none)')}")
    print(f"{PARAMS_FILE} is the {name} profile" + ("" if changed else ", as before"))
