"""The front door: `invoke --list`. Each task is a thin wrapper around one command, which it prints.

Commands run on the interpreter that runs invoke, whatever `python` on PATH is, and pass their exit
code on.
"""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from invoke.collection import Collection
from invoke.context import Context
from invoke.exceptions import Exit
from invoke.tasks import task
from invoke.watchers import StreamWatcher

from lab.tools.stage_times import Listener, StageTimes, known_seconds, remember

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
    """Print and run a command in the project's folder; end with its exit code if that is not 0."""
    path = f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}"
    environment = {"PATH": path, "PYTHONUNBUFFERED": "1"}
    terminal = sys.stdout.isatty() and sys.stdin.isatty() and os.name != "nt"
    with c.cd(str(ROOT)):
        result = c.run(
            command,
            echo=echo,
            pty=terminal,
            env=environment,
            warn=True,
            in_stream=False,
            watchers=list(watchers),
        )
    if result is not None and result.exited:
        raise Exit(code=result.exited)


def _repro(c: Context, arguments: str = "") -> None:
    """Run `dvc repro` and end with the failed stage's own exit code, for which DVC has 255."""
    ERROR_FILE.unlink(missing_ok=True)
    os.chdir(ROOT)
    times = StageTimes(known_seconds())
    try:
        _run(c, f"dvc repro {arguments}".strip(), watchers=[Listener(times.hear)])
        times.end_stage()
    except Exit:
        # DVC itself stumbled, perhaps over params.yaml: have that explained
        if not ERROR_FILE.exists():
            _run(c, "python -m stages.probe")
            raise
        raise Exit(code=int(json.loads(ERROR_FILE.read_text())["exit_code"])) from None
    finally:
        remember(times.taken)


@task(
    help={
        "k": "only tests whose names match, as pytest's -k",
        "fast": "leave out the end-to-end tests",
    }
)
def test(c: Context, k: str = "", fast: bool = False) -> None:
    """Run the tests, on all cores."""
    chosen = (f" -k {quote(k)}" if k else "") + (" -m 'not e2e'" if fast else "")
    _run(c, "python -m pytest -n logical --dist loadfile --no-loadscope-reorder" + chosen)


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
    _run(c, f"python -m lab.tools.references {quote(name)} --snapshot")


@task(
    help={
        "name": "of the record: reports/reference/NAME.json",
        "profile": "smoke, laptop, study or full",
        "budget": "seconds in all; stages without time left are skipped",
    }
)
def record(c: Context, name: str, profile: str = "full", budget: int = 540) -> None:
    """Record what this machine does in the benchmarks, without DVC and within a time budget."""
    _run(
        c,
        f"python -m lab.tools.references {quote(name)} --profile {quote(profile)} --budget"
        f" {budget}",
    )


@task
def doctor(c: Context) -> None:
    """Say what is wrong with this environment and how to mend it."""
    _run(c, "python -m lab.tools.doctor")


@task
def clean(c: Context) -> None:
    """Delete what can be made anew and is not in git or DVC: caches, downloads, plots pages."""
    _run(c, f"git clean -fdX -- {' '.join(CACHES)}")


namespace = Collection(
    test,
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
    doctor,
    clean,
)
