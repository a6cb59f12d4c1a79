"""Forecast how long `dvc repro` will take here, from DVC's own graph.

A stage that was timed here with the same params takes that time; any other takes its time in the
committed run, scaled to this machine (lab/core/stage_times.py).
"""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any, NamedTuple

from dvc.exceptions import DvcException
from dvc.repo import Repo
from dvc.repo.reproduce import plan_repro

from lab.core.errors import LabError, MachineError, ParamsError, SpaceError, instead_of
from lab.core.files import HARDWARE_FILE, read_json
from lab.core.params import PARAMS_FILE, read_yaml
from lab.core.stage_times import (
    COMMITTED,
    OWN,
    Times,
    digest,
    expected_seconds,
    in_words,
    read_times,
    write_times,
)
from lab.machine.speed import seconds_of_work
from lab.tools.profiles import LAPTOP, check_params, in_use

FACTS = "import json; from lab.machine.hardware import facts; print(json.dumps(facts()))"
GONE = "deleted"  # `dvc status` for a dep that an upstream stage will make


class Plan(NamedTuple):
    """The stages that will run, in DVC's order; `is_whole`: the probe's whole downstream runs."""

    stages: Sequence[str]
    is_whole: bool


def foretell(targets: Sequence[str], force: bool) -> Plan | None:
    """Print how long the stages that will run take here, and return the plan.

    If DVC cannot make a plan, print why and return None.

    Args:
        targets: stages, or runs as train@NAME; all if empty.
        force: run the targets and everything downstream in any case.

    Raises:
        ParamsError: params.yaml has mistakes, or there is no such stage or run. DVC would delete
            a stage's results before the stage could say so.
        MachineError: torch does not say what machine this is.
        SpaceError: DVC's databases cannot be written.
    """
    check_params()
    try:
        with Repo() as repo:
            for target in targets:
                check_target(target, [stage.addressing for stage in repo.index.stages])
            names = will_run(repo, targets, force)
            is_whole = {*planned(repo, {"probe"}, downstream=True)} <= {*names}
    except sqlite3.Error as error:
        raise SpaceError(
            f"DVC's databases, in /var/tmp/dvc: {error}; free space there, `ulimit -f unlimited`,"
            " or `export DVC_SITE_CACHE_DIR=FOLDER`"
        ) from None
    except (DvcException, OSError) as error:
        print(f"ERROR: {error}", file=sys.stderr)
        return None
    if {*names} <= {"probe"}:
        print("# nothing to measure again", flush=True)
        return Plan(names, False)
    write_times(OWN, replace(read_times(OWN), work_s=seconds_of_work()))
    params = read_yaml(PARAMS_FILE)
    in_all = in_words([expected_seconds(name, params) for name in names])
    plural = "s" if len(names) > 1 else ""
    print(f"# {len(names)} stage{plural} to run{in_all}", flush=True)
    return Plan(names, is_whole)


def will_run(repo: Repo, targets: Sequence[str], force: bool) -> list[str]:
    """Return the stages that `dvc repro` of the targets, or of all, will run, in its order.

    Stages downstream of a changed one count as well, except after the probe and the fetch, whose
    outputs stay the same on the same machine.
    """
    collect = repo.stage.collect
    collected = [stage for target in targets for stage in collect(target)] or collect()
    wanted = {stage.addressing for stage in collected}
    if force:
        return planned(repo, wanted, downstream=True)
    status = repo.status([*targets] or None, with_deps=True)
    changed = {name for name, reasons in status.items() if any(map(_is_reason, reasons))}
    causes = changed - {"fetch"} - (set() if _machine_changed() else {"probe"})
    running = changed.union(planned(repo, causes, downstream=True) if causes else ())
    return [name for name in planned(repo, wanted) if name in running]


def planned(repo: Repo, names: Collection[str], downstream: bool = False) -> list[str]:
    """Return DVC's plan for stages: with everything upstream, or with everything downstream."""
    graph = repo.index.graph
    stages = [stage for stage in graph if stage.addressing in names]
    return [stage.addressing for stage in plan_repro(graph, stages, downstream=downstream)]


def _is_reason(reason: str | Mapping[str, Any]) -> bool:
    """Return True unless only missing deps changed: an upstream stage restores them."""
    if isinstance(reason, str) or "changed deps" not in reason:
        return True
    return any(found != GONE for found in reason["changed deps"].values())


def _machine_changed() -> bool:
    """Return whether the machine's facts differ from those in reports/hardware.json.

    A separate process reads them: one that has queried GPUs may hold memory on them.
    """
    ended = subprocess.run([sys.executable, "-c", FACTS], capture_output=True, check=False)
    if ended.returncode:
        raise MachineError("torch does not say what machine this is; `invoke doctor` looks for it")
    try:
        return bool(json.loads(ended.stdout) != read_json(HARDWARE_FILE))
    except LabError:  # missing, or damaged
        return True


def check_target(target: str, stages: Collection[str]) -> None:
    """Raise ParamsError unless the pipeline has the target: a stage, or a run as train@NAME."""
    known = {*stages, *(name.split("@")[0] for name in stages)}
    if target and target not in known:
        alike = [name for name in known if "@" in name] if "@" in target else known
        raise ParamsError(f"{target}: no such stage or run; {instead_of(target, alike)}")


def keep_as_committed() -> None:
    """Write this machine's times as the committed run's, if params.yaml is the `laptop` profile.

    The fixed work is timed before the run (`foretell`) and after it (here); the mean belongs to
    the stages in between, even if the machine slowed down.
    """
    if in_use() == LAPTOP:
        own, params = read_times(OWN), read_yaml(PARAMS_FILE)
        keys = {stage: digest(stage, params) for stage in own.seconds}
        seconds = {s: {key: own.seconds[s][key]} for s, key in keys.items() if own.of(s, key)}
        before_s, after_s = own.work_s, seconds_of_work()
        write_times(COMMITTED, Times(seconds, fmean((before_s or after_s, after_s))))
