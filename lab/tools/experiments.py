"""The experiments of `dvc exp run` since the last commit: what they changed, and what came out.

DVC's own table has a column for whatever differs anywhere, and gives an experiment that failed, was
killed or still runs the commit's metrics. This one has a line for each param and each metric that
an experiment changed, and says what the change amounts to.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from lab.core.errors import ParamsError
from lab.core.params import PARAMS_FILE
from lab.tools.compare import Row, aligned, changes_of, compare, is_metric, side_of_commit
from lab.tools.profiles import leaves

DVC = ("exp", "show", "--json")
SUCCESS = "success"


class Experiment(NamedTuple):
    """An experiment, its state in DVC's word, and its params by dotted key."""

    name: str
    state: str
    params: Mapping[str, Any]


def read(shown: Sequence[Mapping[str, Any]]) -> tuple[Mapping[str, Any], list[Experiment]]:
    """The commit's params, and its experiments, the oldest first, from DVC's JSON."""
    commit = shown[1]  # after the workspace
    tried = [
        Experiment(
            each["name"],
            each["executor"]["state"] if each["executor"] else SUCCESS,
            _params(each["revs"][0]),
        )
        for each in reversed(commit["experiments"] or [])
    ]
    return _params(commit), tried


def _params(revision: Mapping[str, Any]) -> dict[str, Any]:
    found = (revision["data"] or {"params": {}})["params"]  # none of what DVC cannot read
    return dict(leaves(found.get(str(PARAMS_FILE), {}).get("data", {})))


def lines(
    experiment: Experiment, params: Mapping[str, Any], changed: Sequence[Row]
) -> Iterator[tuple[str, ...]]:
    """What an experiment changed of the commit's params, and the metrics that changed by it."""
    state = "" if experiment.state == SUCCESS else experiment.state
    yield experiment.name, state, "", "", ""
    for key, old, new in changes_of(params, experiment.params):
        yield "", key, str(old), str(new), ""
    for row in filter(is_metric, changed):
        folder, name, *cells = row.cells
        yield "", f"{folder.removeprefix('train/')} {name}", *cells


def show() -> None:
    """Print the experiments, each against the commit that they began with."""
    print("$ dvc", *DVC, file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "dvc", *DVC]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise ParamsError(result.stderr.strip().removeprefix("ERROR: "))
    params, tried = read(json.loads(result.stdout))
    if not tried:
        print("none since the last commit; `dvc exp run -S KEY=VALUE train@NAME` makes one")
        return
    commit = side_of_commit("HEAD")
    rows: list[tuple[str, ...]] = [("experiment", "", "commit", "experiment", "")]
    for each in tried:
        ended = each.state == SUCCESS
        changed = compare(commit, side_of_commit(each.name))[1] if ended else []
        rows += lines(each, params, changed)
    print("\n".join(aligned(rows)))
