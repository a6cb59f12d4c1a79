"""The experiments of `dvc exp run` since the last commit: what they changed, and what came out.

DVC's own table has a column for whatever differs anywhere, and gives an experiment that failed, was
killed or still runs the commit's metrics. This one has results only of what ended well, and as many
columns as fit the terminal, the most telling ones.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import accumulate, chain, pairwise, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from lab.core.errors import ParamsError
from lab.core.files import HARDWARE_FILE, REPORTS
from lab.core.params import PARAMS_FILE, read_yaml
from lab.core.process import run
from lab.tools.compare import aligned
from lab.tools.profiles import leaves

DVC = ("exp", "show", "--json")
PIPELINE = Path("dvc.yaml")
SUCCESS = "success"
WIDTH = 100  # of the table in characters, where there is no terminal


class Experiment(NamedTuple):
    """An experiment, or the commit that all of them began with.

    Attributes:
        state: DVC's word: success, queued, running, or failed, as killed ones are.
        params: by dotted key.
        metrics: by folder under reports/ and name; none of what has not ended well.
        machine: the facts of the machine that it ran on.
    """

    name: str
    state: str
    params: Mapping[str, Any]
    metrics: Mapping[tuple[str, str], Any]
    machine: Mapping[str, Any]


class Column(NamedTuple):
    """A column of the table: a cell for each experiment, below its stage or run and its key."""

    owner: str
    key: str
    cells: Sequence[str]
    is_result: bool

    @property
    def width(self) -> int:
        """In characters, with the gap before it."""
        return 2 + max(map(len, (self.owner, self.key, *self.cells)))


def read(shown: Sequence[Mapping[str, Any]]) -> list[Experiment]:
    """The commit and its experiments, from DVC's JSON."""
    commit = shown[1]  # after the workspace
    tried = commit["experiments"] or []
    return [
        _experiment(commit["name"], None, commit),
        *(_experiment(each["name"], each["executor"], each["revs"][0]) for each in tried),
    ]


def _experiment(
    name: str | None, executor: Mapping[str, Any] | None, revision: Mapping[str, Any]
) -> Experiment:
    state = executor["state"] if executor else SUCCESS
    data = revision["data"] or {"params": {}, "metrics": {}}  # of what DVC cannot read
    params = {file: found.get("data", {}) for file, found in data["params"].items()}
    metrics = {
        (str(Path(file).parent.relative_to(REPORTS)), key): value
        for file, found in data["metrics"].items()
        for key, value in found.get("data", {}).items()
    }
    return Experiment(
        name or revision["rev"][:7],
        state,
        dict(leaves(params.get(str(PARAMS_FILE), {}))),
        metrics if state == SUCCESS else {},
        params.get(str(HARDWARE_FILE), {}),
    )


def columns(experiments: Sequence[Experiment], pipeline: Mapping[str, Any]) -> Iterator[Column]:
    """The params and metrics that differ, the most telling first.

    Of the params those count that the stages which ran read, and those that an experiment changes
    which has not ended: DVC does not say what it would run. Where they differ from experiment to
    experiment they alternate with the metrics. Those that only the commit has otherwise come last:
    a change of the profile is in all experiments.
    """
    commit, *tried = experiments
    metrics = _differing([each.metrics for each in experiments])
    sections = _read_by({folder for folder, _ in metrics}, pipeline)
    changed = _differing([each.params for each in experiments])
    params = [key for key in changed if f"{key}.".startswith(sections)]
    params += _differing([commit.params, *(e.params for e in tried if e.state != SUCCESS)])
    params = list(dict.fromkeys(params))
    varied = _differing([each.params for each in tried]) if len(tried) > 1 else params

    first = [_param(key, experiments) for key in params if key in varied]
    results = [_metric(key, experiments) for key in metrics]
    yield from filter(None, chain.from_iterable(zip_longest(first, results)))
    yield from (_param(key, experiments) for key in params if key not in varied)


def _differing(found: Sequence[Mapping[Any, Any]]) -> list[Any]:
    """The keys whose values are not the same everywhere; where nothing was found does not count."""
    there = [each for each in found if each]
    keys = dict.fromkeys(key for each in there for key in each)
    return [key for key in keys if any(each.get(key) != there[0].get(key) for each in there)]


def _read_by(folders: Collection[str], pipeline: Mapping[str, Any]) -> tuple[str, ...]:
    """The sections of params.yaml that the stages with these results read, a dot behind each."""
    found = set()
    for folder in folders:
        stage, _, run_name = folder.partition("/")
        for section in pipeline["stages"][stage].get("params", []):
            if isinstance(section, str):  # not another file's
                found.add(section.replace("${item.run}", run_name) + ".")
    return tuple(found)


def _param(key: str, experiments: Sequence[Experiment]) -> Column:
    owner, _, name = key.removeprefix("train.runs.").rpartition(".")
    return Column(owner, name, [_cell(each.params, key) for each in experiments], False)


def _metric(key: tuple[str, str], experiments: Sequence[Experiment]) -> Column:
    owner, name = key[0].removeprefix("train/"), key[1]
    return Column(owner, name, [_cell(each.metrics, key) for each in experiments], True)


def _cell(found: Mapping[Any, Any], key: Any) -> str:
    value = found.get(key, "–") if found else ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def table(experiments: Sequence[Experiment], found: Sequence[Column], width: int) -> Iterator[str]:
    """The lines of a table of the first columns that fit into so many characters, params first.

    A stage or run stands once above its columns. Last comes what the table leaves out.
    """
    names = Column("", "experiment", [each.name for each in experiments], False)
    states = Column("", "state", ["", *(each.state for each in experiments[1:])], False)
    sums = accumulate([names.width - 2 + states.width, *(column.width for column in found)])
    chosen = [column for column, total in zip(found, list(sums)[1:], strict=True) if total <= width]
    owners = list(dict.fromkeys(column.owner for column in chosen))
    chosen.sort(key=lambda column: (column.is_result, owners.index(column.owner)))
    shown = [names, states, *chosen]
    above = ["", *(c.owner for c in shown)]
    heads = [owner if owner != last else "" for last, owner in pairwise(above)]
    yield from aligned(
        [heads, [c.key for c in shown], *zip(*(c.cells for c in shown), strict=True)]
    )
    if left := len(found) - len(chosen):
        yield f"{left} more columns: `COLUMNS=1000 invoke experiments | less -S`"
    machines = [each.machine for each in experiments if each.metrics]
    if any(machine != machines[0] for machine in machines):
        yield "not all of them ran on one machine: their times do not compare"


def main() -> None:
    """Print the experiments, after the commit that they began with."""
    print("$ dvc", *DVC, file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "dvc", *DVC]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise ParamsError(result.stderr.strip().removeprefix("ERROR: "))
    experiments = read(json.loads(result.stdout))
    if len(experiments) == 1:
        print("none since the last commit; `dvc exp run -S KEY=VALUE train@NAME` makes one")
        return
    found = [*columns(experiments, read_yaml(PIPELINE))]
    print("\n".join(table(experiments, found, shutil.get_terminal_size((WIDTH, 0)).columns)))


if __name__ == "__main__":
    sys.exit(run(main))
