"""The experiments of `dvc exp run` since the last commit: what they changed, and what came out.

DVC's own table has a column for whatever differs anywhere, and gives an experiment that failed, was
killed or still runs the commit's metrics.
"""

import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from lab.core.errors import ParamsError
from lab.core.params import PARAMS_FILE
from lab.tools.compare import aligned, changes_of, compare, is_metric, side_of_commit
from lab.tools.profiles import leaves

SUCCESS = "success"


def show() -> None:
    """Print the experiments, the oldest first, each against the commit that they began with."""
    command = [sys.executable, "-m", "dvc", "exp", "show", "--json"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise ParamsError(ended.stderr.strip().removeprefix("ERROR: "))
    _workspace, head, *_ = json.loads(ended.stdout)
    commit = side_of_commit("HEAD")
    rows: list[tuple[str, ...]] = [("experiment", "", "commit", "experiment", "")]
    for each in reversed(head["experiments"] or []):
        state = each["executor"]["state"] if each["executor"] else SUCCESS
        rows.append((each["name"], "" if state == SUCCESS else state, "", "", ""))
        for key, old, new in changes_of(_params(head), _params(each["revs"][0])):
            rows.append(("", key, str(old), str(new), ""))
        if state == SUCCESS:
            _, changed = compare(commit, side_of_commit(each["name"]))
            for row in filter(is_metric, changed):
                folder, name, *cells = row.cells
                rows.append(("", f"{folder.removeprefix('train/')} {name}", *cells))
    if len(rows) == 1:
        print("none since the last commit; `dvc exp run -S KEY=VALUE train@NAME` makes one")
    else:
        print("\n".join(aligned(rows)))


def _params(revision: Mapping[str, Any]) -> dict[str, Any]:
    """The params of a revision by dotted key; none of what DVC cannot read."""
    found = (revision["data"] or {"params": {}})["params"]
    return dict(leaves(found.get(str(PARAMS_FILE), {}).get("data", {})))
