"""The front door: `invoke --list`. A task calls a function, runs DVC, or runs a program.

Everything runs on invoke's interpreter, whatever `python` on PATH is, and in the project's folder.
Exit codes are passed on.
"""

import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from shlex import quote
from typing import ParamSpec

from invoke.context import Context
from invoke.exceptions import Exit
from invoke.tasks import task

from lab.core.errors import MachineError
from lab.core.process import open_standard_streams, run
from lab.tools import pipeline
from lab.tools.doctor import doctor as diagnose

P = ParamSpec("P")
ROOT = Path(__file__).resolve().parent
CHECKS = (
    "python -m ruff format --check",
    "python -m ruff check",
    "python -m mypy",
    "lint-imports",
    "check-jsonschema --builtin-schema vendor.github-workflows"
    " .github/workflows/check.yml .github/workflows/compare.yml .github/workflows/pages.yml",
    "check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml",
    "check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff",
    "check-jsonschema --builtin-schema vendor.github-issue-forms"
    " .github/ISSUE_TEMPLATE/machine.yml",
)
CACHES = (
    ".lab .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache dvc_plots"
    " lab stages tests"
)


def _do(c: Context, work: Callable[P, int | None], *arguments: P.args, **named: P.kwargs) -> None:
    """Call a function in an environment in which DVC runs, whatever the user's is."""
    with pipeline.environment():
        _call(c, work, *arguments, **named)


def _call(c: Context, work: Callable[P, int | None], *arguments: P.args, **named: P.kwargs) -> None:
    """Call a function in the project's folder; exit on an error, a signal or its exit code."""
    if c.config.run.dry:
        raise Exit("ERROR: this task calls a function, so it has no --dry run", 2)

    def main() -> None:
        if code := work(*arguments, **named):
            raise Exit(code=code)

    os.chdir(ROOT)
    if code := run(main):
        raise Exit(code=code)


def _repro(c: Context, how: Callable[P, int], *arguments: P.args, **named: P.kwargs) -> None:
    """Run the pipeline; if DVC fails and no stage says why, let the doctor look for the reason."""
    try:
        _do(c, how, *arguments, **named)
    except Exit as end:
        if end.code != pipeline.FAILED:
            raise
        print("# DVC failed as it says above; what the doctor finds:", file=sys.stderr)
        _do(c, diagnose, in_short=True)
        raise Exit(code=MachineError.exit_code) from None


def _run(c: Context, command: str, echo: bool = True, warn: bool = False) -> int:
    """Run a program on this terminal and return its exit code; without `warn`, a failure raises."""
    os.chdir(ROOT)
    open_standard_streams()
    terminal = sys.stdin.isatty() and sys.stdout.isatty()
    with pipeline.environment():
        ended = c.run(command, echo=echo, echo_format="{command}", pty=terminal, warn=warn)
    return ended.exited


def _write_profile(c: Context, name: str) -> None:
    from lab.tools.profiles import write_profile

    _do(c, write_profile, name)


def _with_help(body: Callable[..., None]) -> Callable[..., None]:
    """Make `invoke NAME --help` show help for a task that needs an argument.

    Invoke would take the option as the argument.
    """

    @functools.wraps(body)
    def task_or_help(c: Context, *given: object, **named: object) -> None:
        if {"-h", "--help"} & {*given, *named.values()}:
            _run(c, f"invoke --help {body.__name__}", echo=False)
        else:
            body(c, *given, **named)

    return task_or_help


@task(
    help={
        "k": "only tests whose names match, as pytest's -k",
        "all": "also real launches, kills, compilers, browsers and the whole pipeline",
        "gpus": "the tests of simulated GPUs instead",
    }
)
def test(
    c: Context,
    k: str = "",
    all: bool = False,  # noqa: A002  (the option's name)
    gpus: bool = False,
) -> None:
    """Run the tests, on all cores."""
    simulated = "tests/simulated_gpus"
    which = simulated if gpus else f"--ignore-glob '{simulated}/*'" if all else "-m 'not slow'"
    chosen = f"{which} -k {quote(k)}" if k else which
    workers = (os.cpu_count() or 1) + all  # many of the extra tests only wait
    _run(c, f"python -m pytest -n {workers} --dist worksteal {chosen}")


@task
def check(c: Context) -> None:
    """Check the code: formatter, linter, types, imports, workflows."""
    codes = {command: _run(c, command, warn=True) for command in CHECKS}
    if failed := [command for command in CHECKS if codes[command]]:
        names = (command.removeprefix("python -m ").split(" --")[0] for command in failed)
        raise Exit(f"ERROR: failed: {', '.join(names)}; each says why above", codes[failed[0]])


@task(
    help={
        "profile": "smoke, laptop, study or full: written into params.yaml first",
        "stage": "only this stage, with what it needs",
    }
)
def repro(c: Context, profile: str = "", stage: str = "") -> None:
    """Reproduce the pipeline: run what params, code, data or hardware changed (dvc repro)."""
    if profile:
        _write_profile(c, profile)
    _repro(c, pipeline.foretell_and_repro, [stage] if stage else [])


@task(help={"run": "a name under train.runs of params.yaml"})
@_with_help
def train(c: Context, run: str) -> None:
    """Train a run, with what it needs, and redraw the report; a stopped run resumes."""
    _repro(c, pipeline.foretell_and_repro, [f"train@{run}"])
    report(c)


@task(
    help={
        "picture": "a picture file of any size",
        "run": "the run to use; the most accurate run that is trained here if not given",
    }
)
@_with_help
def predict(c: Context, picture: str, run: str = "") -> None:
    """Say what a trained network sees in a picture: classes with their probabilities."""
    from lab.tools.predict import predict

    _do(c, predict, Path(picture).absolute(), run)


@task
def smoke(c: Context) -> None:
    """Run the whole pipeline on little data; `invoke profile laptop` brings the params back."""
    repro(c, profile="smoke")


@task(help={"name": "smoke, laptop, study or full"})
@_with_help
def profile(c: Context, name: str) -> None:
    """Write a profile into params.yaml, keeping comments."""
    _write_profile(c, name)


@task(
    help={
        "stage": "only this stage and what follows from it; all that measures, if not given",
        "noisy": "only the stages whose times decide nothing, since the machine was busy",
    }
)
def remeasure(c: Context, stage: str = "probe", noisy: bool = False) -> None:
    """Measure again although nothing changed, and redraw the report."""
    if noisy:
        _repro(c, pipeline.remeasure_disturbed)
    else:
        _repro(c, pipeline.foretell_and_repro, [stage], True)


@task
def retest(c: Context) -> None:
    """Measure everything again and keep the verdicts, to see what runs agree on."""
    _repro(c, pipeline.foretell_and_repro, ["probe"], True)
    from lab.tools.retest import retest

    _do(c, retest)
    _repro(c, pipeline.repro, "report")


@task
def claims(c: Context) -> None:
    """Judge the claims from the results on disk, and redraw the report; in seconds."""
    _repro(c, pipeline.repro, "--single-item", "claims", "report")


@task(help={"stage": "draw only the pages of one question, in seconds"})
def report(c: Context, stage: str | None = None) -> None:
    """Redraw the report from the results on disk, without measuring."""
    if stage:
        _run(c, f"python -m stages.report {quote(stage)}")
        return
    _repro(c, pipeline.repro, "--single-item", "report")


@task(
    help={
        "rev": "the commit to compare with",
        "reference": "a reference to compare with instead: reports/reference/NAME.json",
        "md": "as Markdown, for a pull request",
        "all": "everything that differs, not only what counts most",
        "stage": "each finding of this stage, or of a run as train@NAME",
    }
)
def compare(
    c: Context,
    rev: str = "HEAD",
    reference: str = "",
    md: bool = False,
    all: bool = False,  # noqa: A002  (the option's name)
    stage: str = "",
) -> None:
    """Compare with a commit or a reference: better, worse, or within noise."""
    from lab.tools.compare import show

    _do(c, show, rev, reference, md, all, stage)


@task(help={"name": "of the reference: reports/reference/NAME.json"})
@_with_help
def snapshot(c: Context, name: str) -> None:
    """Keep this machine's results as a reference to compare with."""
    from lab.tools.references import snapshot

    _do(c, snapshot, name)


@task(
    help={
        "name": "of the record: reports/reference/NAME.json",
        "profile": "smoke, laptop, study or full",
        "budget": "seconds in all; a stage without time left ends with what it has, or is skipped",
    }
)
@_with_help
def record(c: Context, name: str, profile: str = "full", budget: int = 600) -> None:
    """Measure this machine in minutes, without DVC: benchmarks, training runs, verdicts."""
    from lab.tools.record.visit import record

    _do(c, record, name, profile, budget)


@task(help={"python": "the other machine's version; by default this one's"})
def pack(c: Context, python: str = "") -> None:
    """Make one file to carry to a machine without a network, for `record` there."""
    from lab.tools.record.pack import pack

    _do(c, pack, python)


@task(help={"fix": "fix what is safe to fix; results and edits stay as they are"})
def doctor(c: Context, fix: bool = False) -> None:
    """Say what is wrong here and which command fixes it."""
    _call(c, diagnose, fix)


@task(
    help={
        "name": "of the folder under stages/: small letters, such as gradient_clipping",
        "book": "the book's section, such as 12.11",
        "question": "what it asks",
    }
)
@_with_help
def new(c: Context, name: str, book: str = "", question: str = "") -> None:
    """Write a new stage: its folder, its entries elsewhere, and a first test that fails."""
    from lab.tools.new_question import write_question

    _do(c, write_question, name, book, question)


@task
def derive(c: Context) -> None:
    """Rewrite metrics from the rows after a change of how a number is derived; accept them."""
    from lab.tools.derive import derive

    _do(c, derive)


@task
def freeze(c: Context) -> None:
    """Freeze the rules of claims; refuse a rule that changed without a new day."""
    from lab.claims.frozen import freeze_rules

    _do(c, freeze_rules)


@task
def clean(c: Context) -> None:
    """Delete caches, downloads, plots pages, and the checkpoints of stopped runs."""
    _run(c, f"git clean -fdX -- {CACHES}")
