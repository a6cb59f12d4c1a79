"""The front door: `invoke --list`. Each task is a thin wrapper around one command, which it prints.

Commands run on the interpreter that runs invoke, whatever `python` on PATH is, and pass their exit
code on.
"""

import ctypes
import functools
import getpass
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from shlex import quote
from types import FrameType

from invoke.context import Context
from invoke.exceptions import Exit
from invoke.tasks import task

from lab.core.errors import MachineError
from lab.core.process import (
    ERROR_FILE,
    end_family,
    handle_ending_signals,
    open_standard_streams,
    restore_signals,
)
from lab.core.stage_times import PLAN
from lab.tools.doctor import clear_stale_dvc_locks

ROOT = Path(__file__).resolve().parent
BIN = Path(sys.executable).parent
PR_SET_PDEATHSIG = 1  # of Linux's prctl
PLAN_FILE = ROOT / ".lab" / "plan.json"
DOCTOR = "python -m lab.tools.doctor"
DVC_FAILED = 255  # its exit code for a stage that failed, whatever the stage's own
CACHES = (
    ".lab",
    ".hypothesis",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".import_linter_cache",
    "dvc_plots",
    "lab",
    "stages",
    "tests",
)


def _run(command: str, echo: bool = True, plan: bool = False) -> None:
    """Print and run a command on this terminal; end with its exit code if that is not 0.

    A terminal's Ctrl-C reaches the command by itself. A signal to this process alone is passed on,
    SIGINT as SIGTERM, because DVC ignores SIGINT while a stage runs.
    """
    open_standard_streams()
    if echo:
        print(command, flush=True)
    program, *words = shlex.split(command)
    environment = _environment() | ({PLAN: str(PLAN_FILE)} if plan else {})
    if command.startswith(DOCTOR):  # which looks at what the user has
        program, environment = sys.executable, dict(os.environ)
    process = subprocess.Popen(
        # on Windows, Popen looks for programs on this process's PATH
        [shutil.which(program, path=environment.get("PATH")) or program, *words],
        cwd=ROOT,
        env=environment,
        preexec_fn=_end_with_invoke(),
    )
    received: list[int] = []

    def end(number: int, frame: FrameType | None) -> None:
        received.append(number)
        if number != signal.SIGINT:
            end_family(process, number)
        elif not _in_foreground():
            end_family(process, signal.SIGTERM)

    before = handle_ending_signals(end)
    code = process.wait()
    restore_signals(before)
    if received:
        raise Exit(code=128 + received[0])
    if code:
        raise Exit(code=code if code > 0 else 128 - code)


def _environment() -> dict[str, str]:
    """This process's environment, and what DVC and its stages need."""
    found = os.environ | {
        "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}",
        "SHELL": "/bin/sh",  # by which DVC runs stages; a service's own runs nothing
    }
    if "error" in found.get("PYTHONWARNINGS", ""):  # DVC's packages warn
        del found["PYTHONWARNINGS"]
    try:
        getpass.getuser()
    except (KeyError, OSError):  # the second from Python 3.13 on
        found["USER"] = str(os.getuid())  # a container's user has a number and no name
    return found


def _in_foreground() -> bool:
    """Whether a terminal's Ctrl-C reaches this process, and with it all that it started."""
    try:
        with Path("/dev/tty").open() as terminal:
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:
        return False


def _end_with_invoke() -> Callable[[], None] | None:
    """What a command does before it starts: ask Linux for SIGTERM when this process is killed."""
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)
    return lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _foretell_and_repro(arguments: str = "") -> None:
    """Say how long `dvc repro` will take, then run it; its stages say how far it is."""
    _clear(PLAN_FILE)
    _run(f"python -m lab.tools.forecast {arguments.removeprefix('--force')}", echo=False, plan=True)
    _repro(arguments, plan=True)


def _repro(arguments: str = "", plan: bool = False) -> None:
    """Run `dvc repro` and end with the failed stage's own exit code, for which DVC has 255."""
    error_file = ROOT / ERROR_FILE
    _clear(error_file)
    try:
        _run(f"dvc repro {arguments}".strip(), plan=plan)
    except Exit as end:
        if end.code != DVC_FAILED:  # stopped by a signal
            raise
        if error_file.is_file():
            raise Exit(code=int(json.loads(error_file.read_text())["exit_code"])) from None
        print("# DVC failed, and no stage says why; the doctor looks for it", file=sys.stderr)
        _run(DOCTOR)
        raise Exit(code=MachineError.exit_code) from None


def _clear(path: Path) -> None:
    """Delete what an earlier run left, and locks of a killed DVC, for which this one would wait."""
    try:
        path.unlink(missing_ok=True)
        clear_stale_dvc_locks()
    except OSError as error:
        print(
            f"ERROR: {error.filename}: cannot be deleted ({error.strerror}); mend the permissions,"
            " or work in a copy that is yours",
            file=sys.stderr,
        )
        raise Exit(code=MachineError.exit_code) from None


def _with_help(body: Callable[..., None]) -> Callable[..., None]:
    """Have `invoke NAME --help` show help for a task that needs an argument.

    Invoke would take the option for that argument.
    """

    @functools.wraps(body)
    def task_or_help(c: Context, *given: object, **named: object) -> None:
        if {"-h", "--help"} & {*given, *named.values()}:
            _run(f"invoke --help {body.__name__}", echo=False)
        else:
            body(c, *given, **named)

    return task_or_help


@task(
    help={
        "k": "only tests whose names match, as pytest's -k",
        "all": "also real launches, kills, compilers, browsers and the whole pipeline",
    }
)
def test(c: Context, k: str = "", all: bool = False) -> None:  # noqa: A002  (the option's name)
    """Run the tests, on all cores."""
    chosen = ("" if all else " -m 'not slow'") + (f" -k {quote(k)}" if k else "")
    workers = (os.cpu_count() or 1) + all  # many of the others wait: for timeouts, starts, signals
    _run(f"python -m pytest -n {workers} --dist worksteal{chosen}")


@task
def check(c: Context) -> None:
    """Run what reads the code: formatter, linter, types, imports, workflows."""
    for command in (
        "python -m ruff format --check",
        "python -m ruff check",
        "python -m mypy",
        "lint-imports",
        "check-jsonschema --builtin-schema vendor.github-workflows"
        " .github/workflows/check.yml .github/workflows/compare.yml",
        "check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml",
    ):
        _run(command)


@task(
    help={
        "profile": "smoke, laptop, study or full: written into params.yaml first",
        "stage": "only this stage, with what it needs",
    }
)
def repro(c: Context, profile: str = "", stage: str = "") -> None:
    """Reproduce the pipeline: run what params, code, data or hardware changed (dvc repro)."""
    if profile:
        _run(f"python -m lab.tools.profiles {quote(profile)}")
    _foretell_and_repro(quote(stage) if stage else "")


@task(help={"run": "a name under train.runs of params.yaml"})
@_with_help
def train(c: Context, run: str) -> None:
    """Train a run, with what it needs, and redraw the report; a stopped run resumes."""
    _foretell_and_repro(quote(f"train@{run}"))
    report(c)


@task(
    help={
        "picture": "a picture file of any size",
        "run": "whose weights; the first of train.runs that is trained here if not given",
    }
)
@_with_help
def predict(c: Context, picture: str, run: str = "") -> None:
    """Say what a trained network sees in a picture: classes with their probabilities."""
    _run(
        f"python -m lab.tools.classify {quote(str(Path(picture).absolute()))}"
        f" {quote(run) if run else ''}".strip()
    )


@task
def smoke(c: Context) -> None:
    """Run the whole pipeline on little data; `invoke profile laptop` brings the params back."""
    repro(c, profile="smoke")


@task(help={"name": "smoke, laptop, study or full"})
@_with_help
def profile(c: Context, name: str) -> None:
    """Write a profile into params.yaml, comments kept."""
    _run(f"python -m lab.tools.profiles {quote(name)}")


@task(help={"stage": "only this stage and what follows from it; all that measures, if not given"})
def remeasure(c: Context, stage: str = "probe") -> None:
    """Measure again although nothing changed, and redraw the report."""
    _foretell_and_repro(f"--force --downstream {quote(stage)}")


@task
def retest(c: Context) -> None:
    """Measure everything again and keep the verdicts, to see what runs agree on."""
    _foretell_and_repro("--force --downstream probe")
    _run("python -m lab.tools.retest")
    _repro("report")


@task
def claims(c: Context) -> None:
    """Judge the claims from the results on disk, and redraw the report; in seconds."""
    _repro("--single-item claims report")
    print(f"open {ROOT / 'reports' / 'index.html'}")


@task(help={"stage": "draw the pages of one question alone, in seconds"})
def report(c: Context, stage: str | None = None) -> None:
    """Redraw the report from the results on disk, without measuring."""
    if stage:
        _run(f"python -m stages.report {quote(stage)}")
        return
    _repro("--single-item report")
    print(f"open {ROOT / 'reports' / 'index.html'}")


@task(
    help={
        "rev": "the commit to compare with",
        "reference": "a reference to compare with instead: reports/reference/NAME.json",
        "md": "as Markdown, for a pull request",
        "all": "everything that differs, not what counts most",
    }
)
def compare(
    c: Context,
    rev: str = "HEAD",
    reference: str = "",
    md: bool = False,
    all: bool = False,  # noqa: A002  (the option's name)
) -> None:
    """Compare with a commit or a reference: better, worse, or within noise."""
    other = f"--reference {quote(reference)}" if reference else quote(rev)
    options = (" --md" if md else "") + (" --all" if all else "")
    _run(f"python -m lab.tools.compare {other}{options}", echo=not md)


@task
def experiments(c: Context) -> None:
    """Show what each `dvc exp run` since the last commit changed, and what came out."""
    _run("python -m lab.tools.experiments")


@task(help={"name": "of the reference: reports/reference/NAME.json"})
@_with_help
def snapshot(c: Context, name: str) -> None:
    """Keep this machine's results as a reference to compare with."""
    _run(f"python -m lab.tools.references {quote(name)}")


@task(
    help={
        "name": "of the record: reports/reference/NAME.json",
        "profile": "smoke, laptop, study or full",
        "budget": "seconds in all; a stage without time left ends with what it has, or is skipped",
    }
)
@_with_help
def record(c: Context, name: str, profile: str = "full", budget: int = 600) -> None:
    """Record in minutes what this machine does: benchmarks, training runs, verdicts; no DVC."""
    _run(f"python -m lab.tools.record {quote(name)} --profile {quote(profile)} --budget {budget}")


@task(help={"python": "the version on the other machine; this one's if not given"})
def pack(c: Context, python: str = "") -> None:
    """Make one file to carry to a machine without a network, for `record` there."""
    _run("python -m lab.tools.record.pack" + (f" --python {quote(python)}" if python else ""))


@task(help={"fix": "fix what is safe to fix; results and edits stay as they are"})
def doctor(c: Context, fix: bool = False) -> None:
    """Say what is wrong here and which command fixes it."""
    _run(DOCTOR + (" --fix" if fix else ""))


@task(
    help={
        "name": "of the folder under stages/: small letters, such as gradient_clipping",
        "book": "the book's section, such as 12.11",
        "question": "what it asks",
    }
)
def new(c: Context, name: str, book: str, question: str) -> None:
    """Write a new stage: its folder, its entries elsewhere, and a first test that fails."""
    _run(f"python -m lab.tools.new_stage {quote(name)} {quote(book)} {quote(question)}")


@task
def derive(c: Context) -> None:
    """Write metrics anew from the rows, after a change of how a number is derived; accept them."""
    _run("python -m lab.tools.derive")


@task
def freeze(c: Context) -> None:
    """Note the rules of claims as they are; refuses one that changed without a new day."""
    _run("python -m lab.tools.freeze")


@task
def deps(c: Context) -> None:
    """Write into dvc.yaml which rooms of lab/ each stage imports."""
    _run("python -m lab.tools.deps")


@task
def clean(c: Context) -> None:
    """Delete caches, downloads, plots pages, and the checkpoints of stopped runs."""
    _run(f"git clean -fdX -- {' '.join(CACHES)}")
