"""Profiles: each lists the keys of params.yaml that it changes.

laptop.yaml has the committed values of all keys that any other profile changes. A profile is laid
over laptop.yaml, and both over the current params.yaml: comments and edits of other keys stay. The
file is formatted as `dvc exp run -S` formats it, so that both change only the lines they mean to.
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
OWN_PARAMS = "own params"  # they match no profile
COMMENTS = 28  # the column of comments in params.yaml


def check_params() -> int:
    """Check all of params.yaml against what the stages read; return the number of these stages.

    Raises:
        ParamsError: as in `load`, with all mistakes.
    """
    models = importlib.import_module("stages.probe.__main__").params_models()
    check(models)
    return len(models)


def merge(name: str, folder: Path = PROFILES, base: Path = PARAMS_FILE) -> str:
    """Return the text of params.yaml for a profile, laid over `base`.

    Raises:
        ParamsError: there is no such profile, or it is not YAML or has a key that `base` lacks.
    """
    known = sorted(path.stem for path in folder.glob("*.yaml"))
    if name not in known:
        raise ParamsError(f"no profile {name!r} in {folder}/; {instead_of(name, known)}")
    try:
        of_runs = read_yaml(base)["train"]["defaults"].keys()
    except (LookupError, TypeError, AttributeError):
        raise ParamsError(f"{base}: no train.defaults; `git checkout {base}`") from None
    yaml = YAML()  # round-trip, which keeps comments, with its defaults, as DVC uses it
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
    """Write a profile's values over those of `base`, which must have the keys; null removes a key.

    An entry of train.runs holds only what differs from train.defaults; a profile may give it any
    of the keys of train.defaults, and may add entries.
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
                # below a list that became empty, ruamel drops the newline of an uncommented line
                base.yaml_add_eol_comment(file, key, COMMENTS)
        if isinstance(value, dict) and isinstance(base[key], dict):
            _overlay(base[key], value, file, of_runs, f"{parents}{key}.")
            if not base[key]:  # all keys of a run that does not exist were removed
                del base[key]
        else:
            base[key] = value


def _write_lists_out(document: Any) -> None:
    """Format lists as DVC leaves all of them, changed or not: one item per line.

    DVC drops what follows an item, blank lines included.
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
    """Return the name of the profile that params.yaml equals, or OWN_PARAMS."""
    here = read_yaml(PARAMS_FILE)
    names = sorted(path.stem for path in folder.glob("*.yaml"))
    return next(
        (n for n in names if YAML(typ="safe", pure=True).load(merge(n, folder)) == here), OWN_PARAMS
    )


def is_smoke(folder: Path = PROFILES) -> bool:
    """Return whether params.yaml has all values of `smoke`: its numbers mean nothing."""
    file = folder / "smoke.yaml"
    if not file.is_file():
        return False
    here = dict(leaves(read_yaml(PARAMS_FILE)))
    return all(here.get(key) == value for key, value in leaves(read_yaml(file)))


def leaves(document: Any, parents: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each value of nested mappings with its dotted key."""
    for key, value in document.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{parents}{key}.")
        else:
            yield f"{parents}{key}", value


def write_profile(name: str) -> None:
    """Write a profile to params.yaml and print what changed."""
    text = merge(name)
    try:
        before = dict(leaves(read_yaml(PARAMS_FILE)))
    except ParamsError:  # the file is missing, or damaged, which a profile repairs
        before = {}
    write_atomically(PARAMS_FILE.resolve(), text.encode())  # params.yaml may be a link
    after = dict(leaves(read_yaml(PARAMS_FILE)))
    changed = [key for key in before | after if before.get(key) != after.get(key)]
    for key in changed:
        print(f"{key}: {before.get(key, '(none)')} -> {after.get(key, '(none)')}")
    print(f"{PARAMS_FILE} is the {name} profile" + ("" if changed else ", as before"))
