"""Reports what is wrong with this installation and the command that fixes it.

One line per finding: `ok`, `note` (worth knowing), `warn` (works, but) or `FAIL`. The exit code is
that of the first failure. `--fix` only clears the locks of a DVC that was killed.
"""

# Import only the standard library here, and modules that need nothing else: the doctor also runs
# where packages are missing and where torch crashes.
import os
import re
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from lab import DROPPED
from lab.core.errors import LabError, MachineError

PYTHONS = ((3, 11), (3, 14))  # the oldest and the newest
INTERPRETER = shlex.quote(sys.executable)
PIP = f"{INTERPRETER} -m pip install"
if not find_spec("pip"):  # uv's environments have none
    PIP = f"uv pip install --python {INTERPRETER}"
INSTALL = f"{PIP} -e . -c constraints.txt"
FIX = "invoke doctor --fix"
CHOWN = "sudo chown -R $USER . && chmod -R u+rwX ."
DVC_FIXES = {  # by words in DVC's complaint
    "not a git repository": "git init",  # the project was downloaded as a ZIP
    "dvc.lock": "git checkout HEAD -- dvc.lock",
    "config file": "head .dvc/config .dvc/config.local ~/.config/dvc/config",  # one is wrong
    "tmp/dvc": "export DVC_SITE_CACHE_DIR=$HOME/.cache/dvc-site",  # /var/tmp/dvc is another user's
}
GPU_FIELDS = (
    *("index", "compute_mode", "utilization.gpu", "memory.used", "memory.total"),
    "clocks_event_reasons.active",
)
THROTTLED = 0xEC  # NVML's bits for clocks held down by power or heat, not by idling or a setting
BUSY_PERCENT = 20  # of a GPU's time; if others use more, times decide nothing
BUSY_MEMORY = 0.1  # of a GPU's memory
NEEDS_REBOOT = ("does not answer", "version mismatch", "is lost")  # in nvidia-smi's complaints
TORCH_TIMEOUT_S = 300  # gigabytes of libraries, perhaps from a slow disk
TRY_TORCH = ("-m", "lab.tools.try_gpus")


@dataclass(frozen=True)
class Check:
    level: Literal["ok", "note", "warn", "FAIL", "fixed"]
    text: str
    fix: str = ""  # the command that fixes the problem
    exit_code: int = MachineError.exit_code  # the doctor's, if this is the first failure
    repair: Callable[[], str] | None = None  # for `--fix`; returns what it did

    def __str__(self) -> str:
        text = " ".join(self.text.split())
        return f"{text}; `{self.fix}`" if self.fix else text


def python() -> Iterator[Check]:
    found = sys.version.split()[0]
    if not PYTHONS[0] <= sys.version_info[:2] <= PYTHONS[1]:
        oldest, newest = (".".join(map(str, each)) for each in PYTHONS)
        yield Check(
            "FAIL",
            f"Python {found}, expected {oldest} to {newest}",
            f"python{newest} -m venv .venv && .venv/bin/pip install -e . -c constraints.txt",
        )
        return
    yield Check("ok", f"Python {found}, {sys.executable}")
    own, on_path = Path(sys.executable).parent, shutil.which("python")
    if on_path is None or Path(on_path).parent.resolve() != own.resolve():
        yield Check(
            "warn",
            f"`python` on PATH is {on_path or 'missing'}, expected {sys.executable}: `dvc repro`"
            " runs the stages with it (`invoke repro` does not)",
            f"export PATH={shlex.quote(str(own))}:$PATH",
        )


def packages() -> Iterator[Check]:
    """Check that every dependency is installed, within pyproject.toml's or torchvision's range."""
    from packaging.requirements import Requirement

    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    wrong = []
    for requirement in map(Requirement, [*project["dependencies"], *_torchs_for_torchvision()]):
        try:
            found = version(requirement.name)
        except PackageNotFoundError:
            wrong.append(f"{requirement.name} is missing")
            continue
        if not requirement.specifier.contains(found, prereleases=True):
            wrong.append(f"{requirement.name} {found} is not {requirement.specifier}")
    if wrong:
        yield Check("FAIL", ", ".join(wrong), INSTALL)
    else:
        yield Check("ok", f"{len(project['dependencies'])} dependencies within their ranges")


def _torchs_for_torchvision() -> list[str]:
    """Return the torch requirement of the installed torchvision."""
    try:
        return [each for each in requires("torchvision") or () if re.match(r"torch\b", each)]
    except PackageNotFoundError:
        return []


def params() -> Iterator[Check]:
    """Check that params.yaml has what all stages read; every mistake is a finding."""
    from lab.core.params import PARAMS_FILE
    from lab.tools.profiles import check_params

    yield Check("ok", f"{PARAMS_FILE} has what {check_params()} stages read")


def merge() -> Iterator[Check]:
    """Check that no merge is left half done, and that git works in this repository."""
    if git := " ".join(name for name in DROPPED if name.startswith("GIT_")):
        yield Check("warn", f"git works in a different repository by {git}", f"unset {git}")
    command = ["git", "diff", "--name-only", "--diff-filter=U"]
    found = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split("\n")
    if files := [name for name in found if name]:
        text = (
            f"a merge left both sides in {files[0]}, one of {len(files)}; --ours is HEAD's, and"
            " --theirs yours in a rebase or after `git stash pop`"
        )
        fix = "git checkout --ours dvc.lock reports && git add dvc.lock reports"
        yield Check("FAIL", text, fix)


def dvc() -> Iterator[Check]:
    """Check that DVC reads the pipeline, and that it and the stages can write their folders."""
    from lab.tools.pipeline import environment

    command = [sys.executable, "-m", "dvc", "dag"]
    with environment():
        ended = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False
        )
    if ended.returncode:
        lines = [line.strip() for line in ended.stderr.splitlines() if line.strip()]
        said = [line for line in lines if line.startswith("ERROR: ")] or lines or ["no reason"]
        text = " ".join(said).removeprefix("ERROR: ")
        fix = next((fix for word, fix in DVC_FIXES.items() if word in text), "")
        yield Check("FAIL", f"`dvc dag` says: {text}", fix)
        return
    from dvc.repo import Repo

    with environment(), Repo() as repo:
        cache, tmp = Path(repo.cache.local.path), Path(str(repo.tmp_dir))
    own = [Path(name).absolute() for name in ("reports", "models", "data", ".lab")]
    for folder in (cache, tmp, *own):
        there = next(each for each in (folder, *folder.parents) if each.exists())
        try:
            tempfile.TemporaryFile(dir=there).close()
        except OSError as error:
            text, fix = f"{there} cannot be written to ({error.strerror})", CHOWN
            if folder == cache:
                text += ", where DVC's cache is; mount it, or take the default place"
                fix = "dvc cache dir --local --unset"
            yield Check("FAIL", text, fix)
    states = {path: path.lstat() for folder in own for path in folder.rglob("*")}
    me = os.geteuid()
    closed = [p for p, s in states.items() if s.st_uid != me or not s.st_mode & stat.S_IRUSR]
    if closed and me:  # root may read everything
        text = f"{len(closed)} files are another user's or not to be read, such as {closed[0]}"
        yield Check("warn", text, CHOWN)


def dvc_busy() -> Iterator[Check]:
    """Check that no killed DVC blocks others."""
    from lab.tools.dvc_files import RWLOCK, clear_stale_dvc_locks, lock_holders, running

    def clear() -> str:
        if not clear_stale_dvc_locks():
            raise MachineError("a DVC runs here by now")
        return f"deleted {RWLOCK}, which DVC makes again"

    try:
        holders = lock_holders()
    except ValueError:
        yield Check("FAIL", f"{RWLOCK} is damaged, and DVC refuses to work", FIX, repair=clear)
        return
    for pid, command in running().items():
        yield Check("note", f"`{command}` runs here (PID {pid}): other DVCs say that it is busy")
    if holders and not running():
        [pid, *_] = holders
        what = f"DVC takes `{holders[pid]}` (PID {pid}) for running, but it is gone"
        yield Check("warn", what, FIX, repair=clear)


def data() -> Iterator[Check]:
    """Check that the data sets are here, undamaged and not synthetic."""
    from lab.data import datasets, sources

    sources.check_places()
    if not (datasets.DATA / datasets.SOURCE_FILE).exists():
        yield Check("note", "no data yet", "invoke repro --stage fetch")
        return
    source = datasets.read_source()
    datasets.read_fashion_mnist("train")
    datasets.read_fashion_mnist("t10k")
    datasets.read_airfoil()
    if synthetic := [name for name, origin in source.items() if origin == "synthetic"]:
        published = {"fashion_mnist": sources.FASHION_FILES, "airfoil": (sources.AIRFOIL,)}
        to_bring = [
            f"{', '.join(file.name for file in files)} to {files[0].path.parent}/"
            for files in (published[name] for name in synthetic)
        ]
        text = f"synthetic look-alikes of {' and '.join(synthetic)}; bring {', '.join(to_bring)}"
        yield Check("warn", text, "invoke remeasure --stage fetch")
    else:
        yield Check("ok", "Fashion-MNIST and the airfoil table are here")


def processes() -> Iterator[Check]:
    """Check that the processes of a run reach each other."""
    from lab.core.loopback import check_loopback

    yield Check("ok", f"processes meet on the interface {check_loopback()}")


def gpus() -> Iterator[Check]:
    """Check that the driver answers and that nobody else uses the GPUs."""
    from lab.machine.gpus.driver import NoAnswerError, query

    if not _has_gpu_tool():
        return
    try:
        rows = query(*GPU_FIELDS)
    except NoAnswerError as error:
        reboot = any(words in str(error) for words in NEEDS_REBOOT)
        yield Check("warn", f"nvidia-smi {error}", "sudo reboot" if reboot else "nvidia-smi")
        return
    for row in rows:
        yield from _gpu_state(dict(zip(GPU_FIELDS, row, strict=True)))


def _has_gpu_tool() -> bool:
    hidden = os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1")
    return not hidden and shutil.which("nvidia-smi") is not None


def _gpu_state(gpu: dict[str, str]) -> Iterator[Check]:
    index, mode = gpu["index"], gpu["compute_mode"]
    if mode.startswith(("Exclusive", "Prohibited")):
        yield Check(
            "FAIL",
            f"GPU {index} is in mode {mode}, expected Default: several processes share it",
            f"sudo nvidia-smi -i {index} -c DEFAULT",
        )
    busy, used, total = (
        _number(gpu[name]) for name in ("utilization.gpu", "memory.used", "memory.total")
    )
    if busy > BUSY_PERCENT or used > BUSY_MEMORY * total:
        yield Check(
            "warn",
            f"GPU {index} is in use: {busy:.0f} % of its time and {used / 1024:.1f} of"
            f" {total / 1024:.1f} GiB; runs may not fit, and times decide nothing",
            "nvidia-smi",
        )
    reasons = gpu["clocks_event_reasons.active"]
    if reasons.startswith("0x") and int(reasons, 16) & THROTTLED:
        yield Check(
            "warn",
            f"GPU {index} is throttled by power or heat",
            f"nvidia-smi -i {index} -q -d PERFORMANCE,TEMPERATURE,POWER",
        )


def _number(text: str) -> float:
    """Return a number, or 0 for what this GPU does not report: [N/A], [Not Supported]."""
    try:
        return float(text)
    except ValueError:
        return 0.0


def torch() -> Iterator[Check]:
    """Check that torch imports, computes on each GPU and copies between them (try_gpus.py)."""
    command = [sys.executable, *TRY_TORCH]
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, timeout=TORCH_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        steps = (error.stdout or b"").decode().splitlines()
        problem = f"torch does not end within {TORCH_TIMEOUT_S} s"
    else:
        steps = ended.stdout.splitlines()
        said = (ended.stderr.splitlines() or ["no reason given"])[-1]
        if not ended.returncode:
            if _has_gpu_tool() and steps[-1].endswith(" 0 CUDA GPU(s)"):
                text = f"{steps[-1]}, and there is an NVIDIA driver; pytorch.org, “Start locally”,"
                yield Check("warn", f"{text} has builds for CUDA", "nvidia-smi")
            else:
                yield Check("ok", steps[-1])
            return
        if said.startswith("ERROR: "):
            yield Check("FAIL", said.removeprefix("ERROR: "), exit_code=ended.returncode)
            return
        problem = f"torch ends with exit code {ended.returncode} ({said})"
        if ended.returncode < 0:
            problem = f"torch is ended by {signal.Signals(-ended.returncode).name}"
    step = steps[-1] if steps else "importing torch"
    fix = "sudo dmesg | tail -50" if "GPU" in step or "cuda" in step else INSTALL
    yield Check("FAIL", f"{problem}, {step}", fix)


CHECKS = (python, packages, params, merge, dvc, dvc_busy, data, processes, gpus, torch)


def run_check(check: Callable[[], Iterator[Check]]) -> Iterator[Check]:
    """Yield what a check yields; turn an exception in it into a failure."""
    try:
        yield from check()
    except LabError as error:
        for line in str(error).splitlines():
            yield Check("FAIL", line, exit_code=error.exit_code)
    except ImportError as error:
        yield Check("FAIL", f"not checked: {error}", INSTALL)
    except Exception as error:
        yield Check("FAIL", f"not checked: {type(error).__name__}: {error}")


def doctor(fix: bool = False, in_short: bool = False) -> int:
    """Run all checks, print their findings, and return the exit code.

    Args:
        fix: repair what can be repaired.
        in_short: print only problems.
    """
    left = []
    for check in CHECKS:
        for found in run_check(check):
            finding = found
            if fix and found.repair:
                try:
                    finding = Check("fixed", found.repair())
                except Exception as error:
                    finding = replace(found, level="FAIL", text=f"{found}; not fixed: {error}")
            left.append(finding)
            if not (in_short and finding.level == "ok"):
                name = check.__name__.replace("_", " ")
                print(f"{finding.level:5} {name}: {finding}", flush=True)
    if in_short and all(finding.level == "ok" for finding in left):
        print("nothing: DVC's own words above are all there is")
    if repairable := sum(finding.repair is not None for finding in left):
        print(f"`{FIX}` repairs {repairable} of these")
    return next((finding.exit_code for finding in left if finding.level == "FAIL"), 0)
