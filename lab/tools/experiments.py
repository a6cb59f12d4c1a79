"""The experiments of `dvc exp run` since the last commit: what they changed, and what came out.

DVC's own table has a column for whatever differs anywhere, and gives an experiment that failed, was
killed or still runs the commit's metrics.
"""

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from lab.core.errors import ParamsError
from lab.core.params import PARAMS_FILE
from lab.tools.compare import (
    Row,
    aligned,
    changes_of,
    check_git,
    compare,
    is_metric,
    side_of_commit,
)
from lab.tools.profiles import leaves

SUCCESS = "success"
MOST_PARAMS = 8  # of an experiment that are named: a profile changes a hundred


def show() -> None:
    """Print the experiments, the oldest first, each against the commit that they began with."""
    check_git()
    command = [sys.executable, "-m", "dvc", "exp", "show", "--json"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise ParamsError(" ".join(ended.stderr.split()).removeprefix("ERROR: "))
    _workspace, head, *_ = json.loads(ended.stdout)
    commit = side_of_commit("HEAD")
    lines: list[tuple[str, ...]] = [("experiment", "", "commit", "experiment", "")]
    for each in reversed(head["experiments"] or []):
        state = each["executor"]["state"] if each["executor"] else SUCCESS
        came_out: list[Row] = []
        if state == SUCCESS:
            _, came_out = compare(commit, side_of_commit(each["name"]))
        lines.append((each["name"], "" if state == SUCCESS else state, "", "", ""))
        params = changes_of(_params(head), _params(each["revs"][0]))
        untouched = commit.taken.keys() - {row.folder for row in came_out} if came_out else ()
        lines += _params_changed(params, untouched)
        for row in filter(is_metric, came_out):
            folder, name, *cells = row.cells
            lines.append(("", f"{folder.removeprefix('train/')} {name}", *cells))
    if len(lines) == 1:
        print("none since the last commit; `dvc exp run -S KEY=VALUE train@NAME` makes one")
    else:
        print("\n".join(aligned(lines)))


def _params_changed(
    changes: Iterable[tuple[str, Any, Any]], untouched: Iterable[str]
) -> Iterator[tuple[str, ...]]:
    """A line for each param of what the experiment ran, up to a few; the others are counted."""
    others = tuple(f"{folder.replace('train/', 'train.runs.')}." for folder in untouched)
    changed = list(changes)
    shown = [change for change in changed if not change[0].startswith(others)][:MOST_PARAMS]
    for key, old, new in shown:
        yield "", key, str(old), str(new), ""
    if more := len(changed) - len(shown):
        yield "", f"other params: {more}", "", "", ""


def _params(revision: Mapping[str, Any]) -> dict[str, Any]:
    """The params of a revision by dotted key; none of what DVC cannot read."""
    found = (revision["data"] or {"params": {}})["params"]
    return dict(leaves(found.get(str(PARAMS_FILE), {}).get("data", {})))
