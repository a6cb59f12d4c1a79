"""The front door: `invoke --list`. Each task is a thin wrapper around one command, which it prints.

Commands run on the interpreter that runs invoke, whatever `python` on PATH is, and pass their exit
code on.
"""

import os
import sys

try:
    from lab.core import signals  # before anything else: it hears Ctrl-C from then on
    from lab.core.exit_codes import INTERRUPTED, from_the_start
except ImportError:  # half a copy of the project: whatever the task, first the doctor
    os.chdir(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120
    os.execv(sys.executable, [sys.executable, "-m", "lab.tools.doctor"])  # noqa: S606
from_the_start()

# ruff: noqa: E402
import contextlib
import json
import signal
from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from invoke.collection import Collection
from invoke.context import Context
from invoke.exceptions import Exit
from invoke.tasks import task
from invoke.watchers import StreamWatcher

from lab.core.errors import LabError, MachineError
from lab.tools.dvc_words import DvcWords, keep_lock_file
from lab.tools.stage_times import Listener, StageTimes, known_seconds, remember, say
from lab.tools.supervised import Supervised

ROOT = Path(__file__).resolve().parent
BIN = Path(sys.executable).parent
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
ERROR_FILE = ROOT / ".lab" / "last_error.json"


def _run(
    c: Context, command: str, echo: bool = True, watchers: Sequence[StreamWatcher] = ()
) -> None:
    """Print and run a command in the project's folder; end with its exit code if that is not 0.

    A signal ends the command with all that it started, and then this process.
    """
    path = f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}"
    environment = {"PATH": path, "PYTHONUNBUFFERED": "1"}
    terminal = sys.stdout.isatty() and sys.stdin.isatty() and os.name != "nt"
    os.chdir(ROOT)
    try:
        with signals.raised():
            result = c.run(
                command,
                echo=echo,
                pty=terminal,
                env=environment,
                warn=True,
                in_stream=False,
                watchers=list(watchers),
            )
    except signals.Stopped as stop:
        raise Exit(code=128 + stop.number) from None
    if result is not None and result.exited:
        code = result.exited
        raise Exit(code=code if code > 0 else 128 - code)


def _repro(c: Context, arguments: str = "", again: bool = True) -> None:
    """Run `dvc repro` and end with the failed stage's own exit code, for which DVC has 255.

    Where no stage failed but DVC, its files are mended as far as that is safe, and it runs again.
    """
    times, words = StageTimes({}), DvcWords()
    try:
        ERROR_FILE.unlink(missing_ok=True)
        times = StageTimes(known_seconds())
        hear = [Listener(times.hear), Listener(words.hear)]
        _run(c, f"dvc repro {arguments}".strip(), watchers=hear)
        times.end_stage()
        keep_lock_file()
        remember(times.taken)
    except LabError as error:
        raise Exit(f"ERROR: {error}", error.exit_code) from None
    except PermissionError as error:
        whose = f"ERROR: {error.filename}: not yours to change; `invoke doctor` says whose it is"
        raise Exit(whose, MachineError.exit_code) from None
    except Exit as end:
        with contextlib.suppress(LabError):
            remember(times.taken)
        if ERROR_FILE.exists():
            said = int(json.loads(ERROR_FILE.read_text())["exit_code"])
            raise Exit(code=end.code if _is_of_signal(end.code) else said) from None
        code = words.exit_code(end.code)
        if _is_of_signal(code):
            raise Exit(f"ERROR: {INTERRUPTED}", code) from None
        if words.busy and again and _forget_dead_dvcs():
            _repro(c, arguments, again=False)
            return
        if words.failed_with or words.busy or not again:
            raise Exit(code=code) from None
        say("# DVC failed, and no stage: mending what can be mended safely")
        _run(c, "python -m lab.tools.doctor --fix")
        _repro(c, arguments, again=False)


def _forget_dead_dvcs() -> bool:
    """Whether DVC waits for DVCs that are dead, and now does so no longer."""
    from lab.tools.doctor.dvc_state import forget_the_gone

    found = forget_the_gone()
    if found:
        say("# the DVC that keeps it busy was killed: forgotten, once more")
    return found


def _is_of_signal(code: int) -> bool:
    return 128 < code <= 128 + signal.NSIG


@task(
    help={
        "k": "only tests whose names match, as pytest's -k",
        "fast": "leave out the end-to-end tests",
    }
)
def test(c: Context, k: str = "", fast: bool = False) -> None:
    """Run the tests, on all cores."""
    chosen = (f" -k {quote(k)}" if k else "") + (" -m 'not slow'" if fast else "")
    _run(c, "python -m pytest -n logical --dist loadfile --no-loadscope-reorder" + chosen)


@task(help={"minutes": "how long to go on; two hours see every moment and hundreds of kills"})
def faults(c: Context, minutes: int = 120) -> None:
    """Kill, stop and damage a tiny copy of all this for hours, and say what became of it."""
    _run(c, f"python -m tests.faults --minutes {minutes}")


@task
def check(c: Context) -> None:
    """Run what reads the code: formatter, linter, types, imports, workflows."""
    for command in (
        "python -m ruff format --check",
        "python -m ruff check",
        "python -m mypy",
        "lint-imports",
        "check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml",
    ):
        _run(c, command)


@task(
    help={
        "profile": "smoke, laptop, study or full: written into params.yaml first",
        "stage": "only this stage, with what it needs",
    }
)
def repro(c: Context, profile: str = "", stage: str = "") -> None:
    """Reproduce the pipeline: run what params, code, data or hardware changed (dvc repro)."""
    if profile:
        _run(c, f"python -m lab.tools.profiles {quote(profile)}")
    _repro(c, quote(stage) if stage else "")


@task(help={"run": "a name under train.runs of params.yaml"})
def train(c: Context, run: str) -> None:
    """Train one run, with what it needs; one that was stopped goes on where it was (dvc repro)."""
    _repro(c, quote(f"train@{run}"))


@task(
    help={
        "picture": "a picture file of any size",
        "run": "whose weights; the first of train.runs if not given",
    }
)
def predict(c: Context, picture: str, run: str = "") -> None:
    """Say what a trained net sees in a picture: classes with their probabilities."""
    _run(
        c,
        f"python -m lab.tools.classify {quote(str(Path(picture).absolute()))}"
        f" {quote(run) if run else ''}".strip(),
    )


@task
def smoke(c: Context) -> None:
    """Run the whole pipeline on little data; `invoke profile laptop` brings the params back."""
    repro(c, profile="smoke")


@task(help={"name": "smoke, laptop, study or full"})
def profile(c: Context, name: str) -> None:
    """Write a profile into params.yaml, comments kept."""
    _run(c, f"python -m lab.tools.profiles {quote(name)}")


@task(help={"stage": "only this stage and what follows from it; all that measures, if not given"})
def remeasure(c: Context, stage: str = "probe") -> None:
    """Measure again although nothing changed, and redraw the report."""
    _repro(c, f"--force --downstream {quote(stage)}")


@task
def retest(c: Context) -> None:
    """Measure everything again and keep the verdicts, to see what runs agree on."""
    _repro(c, "--force --downstream probe")
    _run(c, "python -m lab.tools.retest")
    _repro(c, "report")


@task
def report(c: Context) -> None:
    """Redraw the report from the results on disk, without measuring."""
    _repro(c, "--single-item report")
    print(f"open {ROOT / 'reports' / 'index.html'}")


@task(
    help={
        "rev": "the commit to compare with",
        "reference": "a reference to compare with instead: reports/reference/NAME.json",
        "md": "as Markdown, for a pull request",
    }
)
def compare(c: Context, rev: str = "HEAD", reference: str = "", md: bool = False) -> None:
    """Compare with a commit or a reference: better, worse, or within noise."""
    other = f"--reference {quote(reference)}" if reference else quote(rev)
    _run(c, f"python -m lab.tools.compare {other}" + (" --md" if md else ""), echo=not md)


@task(help={"name": "of the reference: reports/reference/NAME.json"})
def snapshot(c: Context, name: str) -> None:
    """Keep this machine's results as a reference to compare with."""
    _run(c, f"python -m lab.tools.references {quote(name)}")


@task(
    help={
        "name": "of the record: reports/reference/NAME.json",
        "profile": "smoke, laptop, study or full",
        "budget": "seconds in all; a stage without time left ends with what it has, or is skipped",
    }
)
def record(c: Context, name: str, profile: str = "full", budget: int = 600) -> None:
    """Record in minutes what this machine does: benchmarks, training runs, verdicts; no DVC."""
    _run(
        c, f"python -m lab.tools.record {quote(name)} --profile {quote(profile)} --budget {budget}"
    )


@task(help={"python": "the version on the other machine; this one's if not given"})
def pack(c: Context, python: str = "") -> None:
    """Make one file to carry to a machine without a network, for `record` there."""
    _run(c, "python -m lab.tools.record.pack" + (f" --python {quote(python)}" if python else ""))


@task(help={"fix": "mend what is safe to mend; results and edits stay as they are"})
def doctor(c: Context, fix: bool = False) -> None:
    """Say what is wrong here and which one command mends it."""
    _run(c, "python -m lab.tools.doctor" + (" --fix" if fix else ""))


@task
def clean(c: Context) -> None:
    """Delete what can be made anew and is not in git or DVC: caches, downloads, plots pages."""
    _run(c, f"git clean -fdX -- {' '.join(CACHES)}")


namespace = Collection(
    test,
    faults,
    check,
    repro,
    smoke,
    train,
    predict,
    profile,
    remeasure,
    retest,
    report,
    compare,
    snapshot,
    record,
    pack,
    doctor,
    clean,
)
namespace.configure({"runners": {"local": Supervised}})
