"""Say how long a run of the pipeline will take here.

`invoke repro` begins with it. It leaves the plan by which each stage tells how far the whole run
is (lab/core/stage_times.py). A stage that has run here with such params takes its own time; any
other that of the committed run, at this machine's speed.
"""

import json
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from lab.core.errors import LabError, MachineError, ParamsError, instead_of
from lab.core.files import HARDWARE_FILE, read_json, write_json
from lab.core.outputs import objection, refuse
from lab.core.params import PARAMS_FILE, read_yaml
from lab.core.stage_times import COMMITTED, OWN, Plan, Times, digest, in_words, read_times
from lab.data import sources
from lab.machine import speed
from lab.tools.profiles import LAPTOP, check_params, in_use

PIPELINE = Path("dvc.yaml")
FACTS = "import json; from lab.machine.hardware import facts; print(json.dumps(facts()))"
GONE = "deleted"  # what `dvc status` says of a dep that the stage before will make


@dataclass(frozen=True)
class Stage:
    """The paths that a stage reads and writes; the machine's facts are among what it reads."""

    deps: frozenset[str]
    outs: frozenset[str]

    @property
    def is_measured(self) -> bool:
        """Whether another machine measures it again."""
        return str(HARDWARE_FILE) in self.deps


def stages_of(pipeline: Mapping[str, Any], runs: Collection[str]) -> dict[str, Stage]:
    """The stages of dvc.yaml by DVC's names, `train` as one for each run."""
    found = {}
    for name, entry in pipeline["stages"].items():
        files = [each for each in entry.get("params", []) if isinstance(each, dict)]
        deps = {*_paths(entry, "deps"), *(path for each in files for path in each)}
        outs = {*_paths(entry, "outs", "metrics", "plots")}
        for item in runs if "matrix" in entry else [""]:
            own = frozenset(out.replace("${item.run}", item) for out in outs)
            found[f"{name}@{item}" if item else name] = Stage(frozenset(deps), own)
    return found


def _paths(entry: Mapping[str, Any], *kinds: str) -> Iterator[str]:
    for kind in kinds:
        for each in entry.get(kind, []):
            yield each if isinstance(each, str) else next(iter(each))


def upstream(targets: Collection[str], stages: Mapping[str, Stage]) -> set[str]:
    """The targets and all that they need."""
    found, todo = set[str](), set(targets)
    while todo:
        found |= todo
        deps = {dep for name in todo for dep in stages[name].deps}
        todo = {name for name, stage in stages.items() if _touch(stage.outs, deps)} - found
    return found


def downstream(changed: Collection[str], stages: Mapping[str, Stage]) -> set[str]:
    """Stages that run, and all that read their results.

    Data and weights come out as they were: they hang on pinned hashes, or nothing reads them.
    """
    found, todo = set[str](), set(changed)
    while todo:
        found |= todo
        outs = {out for name in todo for out in stages[name].outs if out.startswith("reports/")}
        todo = {name for name, stage in stages.items() if _touch(outs, stage.deps)} - found
    return found


def _touch(some: Collection[str], others: Collection[str]) -> bool:
    """Whether a path is one of the others, lies in one, or holds one."""
    return any(
        a == b or a.startswith(f"{b}/") or b.startswith(f"{a}/") for a in some for b in others
    )


def changed_of(status: Mapping[str, Any]) -> set[str]:
    """The stages for which `dvc status --json` has a reason of their own to run."""
    return {stage for stage, reasons in status.items() if any(map(_is_reason, reasons))}


def _is_reason(reason: str | Mapping[str, Any]) -> bool:
    """All but deps that are gone: a stage before this one brings them back as they were."""
    if isinstance(reason, str) or "changed deps" not in reason:
        return True
    return any(found != GONE for found in reason["changed deps"].values())


def will_run(target: str, stages: Mapping[str, Stage]) -> set[str]:
    """The stages that `dvc repro` of the target, or of all, is to run.

    Raises:
        LabError: DVC does not say, or the machine is not as it should be.
    """
    wanted = upstream([name for name in stages if target in (name, name.split("@")[0], "")], stages)
    changed = changed_of(_status(target))
    if _facts() == _facts_before():  # the probe runs, and changes nothing
        return (downstream(changed - {"probe"}, stages) | {"probe"}) & wanted
    return downstream(changed, stages) & wanted


def check_outputs(names: Collection[str], stages: Mapping[str, Stage]) -> None:
    """Raise DataError if a user's file is where one of these stages writes data or weights."""
    outs = {out for name in names for out in stages[name].outs}
    weights = [objection(Path(out)) for out in sorted(outs) if out.startswith("models/")]
    refuse([*(sources.objections() if "fetch" in names else []), *weights])


def check_target(target: str, stages: Collection[str]) -> None:
    """Raise ParamsError unless the pipeline has the target: a stage, or a run as train@NAME."""
    known = {*stages, *(name.split("@")[0] for name in stages)}
    if target and target not in known:
        raise ParamsError(f"{target}: no such stage or run; {instead_of(target, known)}")


def plan_of(names: Collection[str], stages: Mapping[str, Stage], params: Mapping[str, Any]) -> Plan:
    """The plan of a run of these stages, which begins now."""
    own, committed, here = read_times(OWN), read_times(COMMITTED), speed.measure()
    scale = _scale(committed, here)
    digests = {name: digest(name, params) for name in stages}
    seconds = {}
    for name in names:
        here_s, there_s = (times.of(name, digests[name]) for times in (own, committed))
        scaled = None if there_s is None else scale * there_s
        seconds[name] = scaled if here_s is None else here_s
    is_kept = any(stages[name].is_measured for name in names) and in_use() == LAPTOP
    return Plan(time.monotonic(), seconds, committed=digests if is_kept else {}, speed=asdict(here))


def _scale(committed: Times, here: speed.Speed) -> float:
    """How many times as long as the committed run this machine takes."""
    if not committed.speed:
        return 1.0
    return here.times_as_long_as(TypeAdapter(speed.Speed).validate_python(committed.speed))


def _status(target: str) -> dict[str, Any]:
    options = ["--with-deps", target] if target else []
    return _told_by("DVC", "-m", "dvc", "status", "--json", *options)


def _facts() -> dict[str, Any]:
    """The machine's facts, from a process that ends: who has asked GPUs may keep memory of them."""
    return _told_by("torch", "-c", FACTS)


def _told_by(who: str, *words: str) -> dict[str, Any]:
    """The JSON that another process of this Python prints."""
    ended = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    if ended.returncode:
        raise MachineError(f"{who} does not say what has changed; `invoke doctor` looks for it")
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def _facts_before() -> dict[str, Any]:
    try:
        return read_json(HARDWARE_FILE)
    except LabError:
        return {}


def forecast_of(plan: Plan) -> str:
    """The whole run in one line."""
    names = list(plan.seconds)
    if names == ["probe"]:
        return "nothing to measure again"
    known = [seconds for seconds in plan.seconds.values() if seconds is not None]
    if not known:
        return f"{len(names)} stages, none of which was timed with these params"
    unknown = len(names) - len(known)
    more = f", and {unknown} that were not timed with these params" if unknown else ""
    return f"{len(names)} stages: about {in_words(sum(known))} on this machine{more}"


def foretell(target: str, force: bool, file: Path) -> None:
    """Print the forecast, and write the plan into a file; neither where DVC cannot tell.

    Args:
        target: a stage, or a run as train@NAME; all if empty.
        force: the target runs in any case, with what follows from it.
        file: for the plan.

    Raises:
        ParamsError: params.yaml has mistakes, or there is no such stage or run. DVC would delete
            a stage's results before the stage could say so.
        DataError: as in `check_outputs`.
    """
    check_params()
    params = read_yaml(PARAMS_FILE)
    try:
        stages = stages_of(read_yaml(PIPELINE), params["train"]["runs"])
    except (LabError, LookupError, TypeError):  # DVC says what is wrong
        return
    check_target(target, stages)
    try:
        names = downstream([target], stages) if force else will_run(target, stages)
    except (LabError, LookupError, TypeError):  # DVC says what is wrong
        check_outputs(stages, stages)
        return
    check_outputs(names, stages)
    try:
        plan = plan_of([name for name in stages if name in names], stages, params)
    except (LabError, LookupError, TypeError):  # DVC says what is wrong
        return
    write_json(file, asdict(plan))
    print(f"# {forecast_of(plan)}", flush=True)
