"""Reports what is wrong with this installation and the command that fixes it.

One line per finding: `ok`, `note` (worth knowing), `warn` (works, but) or `FAIL`. The exit code is
that of the first failure. `--fix` clears the locks of a DVC that was killed and restores a broken
dvc.lock from git; results and edits stay as they are.
"""

# Imported here are only the standard library and what needs no more than that: the doctor also runs
# where packages are missing and where torch crashes.
import getpass
import itertools
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from lab.core.errors import DataError, LabError, MachineError, SpaceError

if TYPE_CHECKING:
    import torch

PYTHONS = ((3, 11), (3, 14))  # the oldest and the newest
INSTALL = f"{shlex.quote(sys.executable)} -m pip install -e . -c constraints.txt"
FIX = "invoke doctor --fix"
FETCH = "invoke repro --stage fetch"
MIN_FREE_GB = 2
SHARED_MEMORY, MIN_SHARED_MIB = Path("/dev/shm"), 128  # noqa: S108  (containers may have 64)
WRITTEN_FOLDERS = (".dvc", ".lab", "data", "models", "reports")  # with all folders below them
WRITTEN_FILES = (".", "dvc.lock", "params.yaml")
VARIABLES = {
    "OMP_NUM_THREADS": "limits the threads of every run",
    "CUDA_VISIBLE_DEVICES": "decides which GPUs torch sees",
    "ATEN_CPU_CAPABILITY": "limits the instructions of torch's kernels: another machine's times",
    "ONEDNN_MAX_CPU_ISA": "limits the instructions of convolutions: another machine's times",
    "DNNL_MAX_CPU_ISA": "limits the instructions of convolutions: another machine's times",
    "MKL_ENABLE_INSTRUCTIONS": "limits the instructions of products: another machine's times",
    "MKL_CBWR": "limits the instructions of products: another machine's times",
    "NVIDIA_TF32_OVERRIDE": "decides over TF32 on GPUs, whatever a run's precision says",
    "PYTORCH_JIT": "turns TorchScript off if it is 0, and bench_compile with it",
    "TORCHDYNAMO_DISABLE": "turns torch.compile off if it is 1: runs that compile are refused",
    "TORCH_COMPILE_DISABLE": "turns torch.compile off if it is 1: runs that compile are refused",
    "PYTHONWARNINGS": "can end `dvc`, whose packages warn (`invoke` leaves errors out of it)",
}

DVC_LOCK = Path("dvc.lock")
BROKEN_DVC_LOCK = Path(".lab/dvc.lock.broken")  # where `--fix` puts what it replaces
RWLOCK = Path(".dvc/tmp/rwlock")  # DVC's table of who reads and writes which path
RWLOCK_GUARD = Path(".dvc/tmp/rwlock.lock")  # held while DVC changes the table

GPU_FIELDS = (
    *("index", "compute_mode", "utilization.gpu", "memory.used", "memory.total"),
    "clocks_event_reasons.active",
)
THROTTLED = 0xEC  # NVML's bits for clocks held down by power or heat, not by idling or a setting
BUSY_PERCENT = 20  # of a GPU's time that others use: above, times decide nothing
BUSY_MEMORY = 0.1  # of a GPU's memory
NEEDS_REBOOT = ("does not answer", "version mismatch", "is lost")  # in nvidia-smi's complaints
TORCH_TIMEOUT_S = 300  # gigabytes of libraries, perhaps from a slow disk
TRY_TORCH = "from lab.tools.doctor import print_torch_steps; print_torch_steps()"
COPIED_BYTES = 2**24


@dataclass(frozen=True)
class Check:
    level: Literal["ok", "note", "warn", "FAIL", "fixed"]
    text: str
    fix: str = ""  # the command that fixes it
    exit_code: int = MachineError.exit_code  # the doctor's, if this is the first failure
    repair: Callable[[], str] | None = None  # for `--fix`; returns what it did

    def __str__(self) -> str:
        text = " ".join(self.text.split())
        return f"{text}; `{self.fix}`" if self.fix else text


def _some(names: Sequence[object], at_most: int = 3) -> str:
    """The first names, and how many more there are."""
    more = len(names) - at_most
    return ", ".join(map(str, names[:at_most])) + (f" and {more} more" if more > 0 else "")


# ---- Python, packages, environment variables, disk ----


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
    """Every dependency is installed, in the range that pyproject.toml gives."""
    import tomllib

    from packaging.requirements import Requirement

    def fits(requirement: Requirement, found: str) -> bool:
        return requirement.specifier.contains(found, prereleases=True)

    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    installed, wrong = {}, []
    for requirement in map(Requirement, project["dependencies"]):
        try:
            found = installed[requirement.name] = version(requirement.name)
        except PackageNotFoundError:
            wrong.append(f"{requirement.name} is missing")
            continue
        if not fits(requirement, found):
            wrong.append(f"{requirement.name} {found} is not {requirement.specifier}")
    if wrong:
        yield Check("FAIL", _some(wrong, 5), INSTALL)
        return
    for requirement in map(Requirement, requires("torchvision") or ()):
        if requirement.name == "torch" and not fits(requirement, installed["torch"]):
            pair = f"torchvision {installed['torchvision']} needs torch {requirement.specifier}"
            yield Check("FAIL", f"{pair}, found {installed['torch']}", INSTALL)
            return
    yield Check("ok", f"{len(installed)} dependencies within their ranges")


def variables() -> Iterator[Check]:
    for name, effect in VARIABLES.items():
        if name in os.environ:
            yield Check("note", f"{name}={os.environ[name]} {effect}", f"unset {name}")


def disk_space() -> Iterator[Check]:
    for folder in (Path.cwd(), Path(tempfile.gettempdir())):
        free_gb = shutil.disk_usage(folder).free / 1e9
        if free_gb >= MIN_FREE_GB:
            yield Check("ok", f"{folder} has {free_gb:.0f} GB free")
            continue
        yield Check(
            "FAIL",
            f"{folder} has {free_gb:.1f} GB free, expected {MIN_FREE_GB}",
            f"du -xhd1 {shlex.quote(str(folder))} | sort -h | tail",
            SpaceError.exit_code,
        )
    if SHARED_MEMORY.is_dir():  # on Linux
        free_mib = shutil.disk_usage(SHARED_MEMORY).free / 2**20
        if free_mib < MIN_SHARED_MIB:
            text = f"{SHARED_MEMORY} has {free_mib:.0f} MiB free; large batches need more to load"
            yield Check("warn", text, "docker run --shm-size=1g")


def loopback() -> Iterator[Check]:
    """The processes of a run reach each other."""
    from lab.core.loopback import check_loopback

    yield Check("ok", f"{check_loopback()} answers")


# ---- the working tree ----


def files() -> Iterator[Check]:
    """No file that git knows is missing."""
    try:
        status = _git("status", "--porcelain", "--untracked-files=no")
    except FileNotFoundError:
        yield Check("FAIL", "git is not installed, and DVC needs it", "sudo apt install git")
        return
    if status.returncode:
        said = " ".join(status.stderr.split())  # which has a remedy for another user's folder
        yield Check("FAIL", said, "git clone URL" if "not a git repository" in said else "")
        return
    missing = [line[3:] for line in status.stdout.splitlines() if line[1] == "D"]
    # the report deletes figures for which there are no results now, such as smoke's
    missing = [name for name in missing if not name.startswith("reports/figures/")]
    results = [name for name in missing if name.startswith("reports/")]
    if source := [name for name in missing if name not in results]:
        fix = f"git checkout -- {' '.join(source)}"
        if len(source) > 3:
            fix = "git ls-files -z --deleted -- ':!reports' | xargs -0 git checkout --"
        yield Check("FAIL", f"{len(source)} file(s) are missing: {_some(source)}", fix)
    if results:
        text = f"{len(results)} result(s) are missing: {_some(results)}"
        yield Check("warn", text, "invoke repro")


def _git(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", *words], capture_output=True, text=True, errors="replace", check=False
    )


def writable() -> Iterator[Check]:
    """This user may write where stages and DVC write."""
    walks = itertools.chain.from_iterable(map(os.walk, WRITTEN_FOLDERS))
    written = [path for path in map(Path, WRITTEN_FILES) if path.exists()]
    written += [Path(folder) for folder, _, _ in walks]
    if refused := [path for path in written if not os.access(path, os.W_OK)]:
        yield Check(
            "FAIL",
            f"you cannot write to {_some(refused)} (run as root or by another user?)",
            'sudo chown -R "$(id -u)" . && chmod -R u+w .',
        )


def params() -> Iterator[Check]:
    """params.yaml has what all stages read; every mistake is a finding."""
    from lab.core.params import PARAMS_FILE
    from lab.tools.profiles import check_params

    yield Check("ok", f"{PARAMS_FILE} has what {check_params()} stages read")


# ---- DVC ----


def dvc_lock() -> Iterator[Check]:
    """dvc.lock can be read; a merge or a kill of DVC may have broken it."""
    if not DVC_LOCK.exists():
        yield Check("note", f"no {DVC_LOCK}: every stage will run", "invoke repro")
        return
    try:
        stages = locked_stages(DVC_LOCK.read_text(encoding="utf-8", errors="replace"))
    except ValueError as error:
        yield _broken_dvc_lock(f"{DVC_LOCK} is broken: {error}")
    else:
        yield Check("ok", f"{DVC_LOCK} has {len(stages)} stages")


def locked_stages(text: str) -> dict[str, Any]:
    """The stages in the text of a dvc.lock, which DVC writes in place.

    Raises:
        ValueError: it has merge markers, is cut off, or is not a dvc.lock.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    if re.search("^(<<<<<<<|>>>>>>>) ", text, re.MULTILINE):
        raise ValueError("a merge left both sides in it")
    if not text.endswith("\n"):
        raise ValueError("its end is missing")
    try:
        document = YAML(typ="safe").load(text)
    except YAMLError as error:
        raise ValueError(str(getattr(error, "problem", error))) from None
    stages = document.get("stages") if isinstance(document, dict) else None
    if not isinstance(stages, dict) or not all(isinstance(each, dict) for each in stages.values()):
        raise ValueError("expected a mapping of stages")
    return stages


def _broken_dvc_lock(what: str) -> Check:
    committed = _git("show", f"HEAD:./{DVC_LOCK}")
    try:
        locked_stages(committed.stdout)
    except ValueError:
        return Check("FAIL", f"{what}; without it every stage runs again", f"rm {DVC_LOCK}")
    return Check("FAIL", what, f"git checkout HEAD -- {DVC_LOCK}", repair=_restore_dvc_lock)


def _restore_dvc_lock() -> str:
    BROKEN_DVC_LOCK.parent.mkdir(exist_ok=True)
    shutil.copy(DVC_LOCK, BROKEN_DVC_LOCK)
    result = _git("checkout", "HEAD", "--", str(DVC_LOCK))
    if result.returncode:
        raise MachineError(result.stderr)
    return f"{DVC_LOCK} is that of the last commit; the broken one is {BROKEN_DVC_LOCK}"


def dvc_runs() -> Iterator[Check]:
    """DVC runs in the environment of this process, for which `invoke repro` makes up."""
    try:
        getpass.getuser()
    except (KeyError, OSError):  # the second from Python 3.13 on
        what = f"no user name for {os.getuid()}, which `dvc` asks for (`invoke repro` names one)"
        yield Check("warn", what, "export USER=me")
        return
    if shell := os.environ.get("SHELL"):
        try:
            subprocess.run(
                [shell, "-c", "true"], stdin=subprocess.DEVNULL, capture_output=True, check=True
            )
        except (OSError, subprocess.CalledProcessError):
            what = f"SHELL={shell} runs no commands, and `dvc repro` runs the stages by it"
            yield Check("warn", f"{what} (`invoke repro` does not)", "unset SHELL")
    command = [sys.executable, "-m", "dvc", "dag"]  # what reads all that `dvc repro` does
    ended = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if ended.returncode:
        said = next(filter(None, ended.stderr.splitlines()), "no reason given")
        yield Check("FAIL", f"`dvc dag` says: {said.removeprefix('ERROR: ')}")


def dvc_busy() -> Iterator[Check]:
    """No DVC that was killed keeps others from working."""
    try:
        holders = _dvc_lock_holders()
    except ValueError:
        what = f"{RWLOCK} is damaged, and DVC refuses to work"
        yield Check("FAIL", what, f"rm {RWLOCK}", repair=_clear_stale_dvc_locks)
        return
    running = [pid for pid in holders if _is_dvc(pid)]
    for pid in running:
        command = holders[pid]
        yield Check("note", f"`{command}` runs here (PID {pid}): other DVCs say that it is busy")
    if holders and not running:
        [pid, *_] = holders
        what = f"DVC takes `{holders[pid]}` (PID {pid}) for running, but it is gone"
        yield Check("warn", what, FIX, repair=_clear_stale_dvc_locks)


def _dvc_lock_holders() -> dict[int, str]:
    """The commands in DVC's lock table by PID, whether or not they still run.

    Raises:
        ValueError: the table is damaged.
    """
    if not RWLOCK.exists():
        return {}
    table = json.loads(RWLOCK.read_bytes())
    try:
        readers = [entry for entries in table.get("read", {}).values() for entry in entries]
        entries = [*table.get("write", {}).values(), *readers]
        return {int(entry["pid"]): entry["cmd"] for entry in entries}
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"{RWLOCK}: {error}") from None


def _is_dvc(pid: int) -> bool:
    """True if the process runs and is DVC, not a zombie or a later process with the same PID."""
    import psutil

    try:
        return any("dvc" in word for word in psutil.Process(pid).cmdline())
    except psutil.AccessDenied:  # another user's
        return True
    except psutil.NoSuchProcess:
        return False


def clear_stale_dvc_locks() -> bool:
    """Delete DVC's lock table if it is damaged or names only dead processes; True if it was.

    DVC itself forgets dead processes, but not zombies (in a container whose first process reaps
    none) and not PIDs that other processes have by now (in a container that was restarted).
    """
    if not RWLOCK.exists():
        return False
    from filelock import FileLock, Timeout

    try:
        with FileLock(RWLOCK_GUARD, timeout=10):
            try:
                holders = _dvc_lock_holders()
            except ValueError:
                is_stale = True
            else:
                is_stale = bool(holders) and not any(map(_is_dvc, holders))
            if is_stale:
                RWLOCK.unlink()
            return is_stale
    except Timeout:
        return False


def _clear_stale_dvc_locks() -> str:
    if not clear_stale_dvc_locks():
        raise MachineError("a DVC runs here by now")
    return f"deleted {RWLOCK}, which DVC makes anew"


# ---- data, weights, checkpoints ----


def data() -> Iterator[Check]:
    """The data sets are here, undamaged and not synthetic, or can be fetched."""
    from lab.data import datasets, sources

    if in_the_way := sources.objections():
        for line in in_the_way:
            yield Check("FAIL", line, exit_code=DataError.exit_code)
        return
    if not (datasets.DATA / datasets.SOURCE_FILE).exists():
        files = (*sources.FASHION_FILES, sources.AIRFOIL)
        here = [each for each in files if any(map(each.lies_at, (each.path, *each.packed_beside)))]
        if here:
            folders = _some(sorted({str(file.path.parent) for file in here}))
            text = f"{len(here)} of {len(files)} published files are in {folders}, and will be used"
            yield Check("note", text, FETCH)
        if lacking := [file.name for file in files if file not in here]:
            yield from _data_sources(f"no {_some(lacking)} yet" if here else "no data yet")
        return
    source = datasets.read_source()
    datasets.read_fashion_mnist("train")
    datasets.read_fashion_mnist("t10k")
    datasets.read_airfoil()
    synthetic = [name for name, origin in source.items() if origin == "synthetic"]
    if synthetic:
        text = f"synthetic look-alikes in place of {' and '.join(synthetic)}"
        yield Check("warn", text, "invoke remeasure --stage fetch")
        yield from _data_sources("to replace them")
    else:
        yield Check("ok", "Fashion-MNIST and the airfoil table are here")


def _data_sources(why: str) -> Iterator[Check]:
    """The first source that has the data."""
    import requests

    from lab.core.params import PARAMS_FILE, read_yaml
    from lab.data import sources

    own, variable = sources.own_mirror(), sources.MIRROR_VARIABLE
    choose = f"export {variable}=FOLDER"
    if own and not sources.is_address(own):
        lacking = {
            f"{file.folders[0]}/{file.name}": copies
            for file in (*sources.FASHION_FILES, sources.AIRFOIL)
            if not any(map(file.lies_at, copies := sources.own_copies(file)))
        }
        missing = [name for name, copies in lacking.items() if not Path(copies[0]).is_file()]
        damaged = [name for name in lacking if name not in missing]
        if not lacking:
            yield Check("note", f"{why}: {own} has the files", FETCH)
            return
        if missing:
            yield Check("warn", f"{variable}: {own} lacks {_some(missing)}", choose)
        if damaged:
            text = f"{variable}: {own} has other bytes than the published {_some(damaged)}"
            yield Check("warn", text, choose)
    params = read_yaml(PARAMS_FILE)["data"]
    mirrors = params["mirrors"]["fashion_mnist"]
    for address in filter(sources.is_address, sources.sources(sources.FASHION_FILES[0], mirrors)):
        try:
            requests.head(address, timeout=5, allow_redirects=True).raise_for_status()
        except requests.RequestException:
            continue
        yield Check("note", f"{why}: {urlsplit(address).hostname} has the files", FETCH)
        return
    put = "put the files into FOLDER/fashion-mnist and FOLDER/airfoil"
    if own or params["if_unreachable"] == "fail":
        text = f"{why}: no source answers; {put}"
        yield Check("FAIL", text, choose, DataError.exit_code)
        return
    text = f"{why}: no source answers, and labelled synthetic data take their place; {put}"
    yield Check("warn", text, choose)


def weights() -> Iterator[Check]:
    """The weights of every run are here; a clone has none, and `dvc checkout` fails for them."""
    from lab.core.outputs import objection
    from lab.core.params import PARAMS_FILE, read_yaml

    runs = read_yaml(PARAMS_FILE)["train"]["runs"]
    for line in dict.fromkeys(objection(Path("models", f"{run}.pt")) for run in runs):
        if line:
            yield Check("FAIL", line, exit_code=DataError.exit_code)
    missing = [run for run in runs if not Path("models", f"{run}.pt").exists()]
    if missing:
        text = (
            f"no weights of {_some(missing)}: git has none, and `dvc checkout` only those made here"
        )
        fix = f"invoke train {missing[0]}" if len(missing) == 1 else "invoke repro --stage train"
        yield Check("note", text, fix)


def checkpoints() -> Iterator[Check]:
    """Training runs that were stopped."""
    for folder in sorted(Path(".lab/checkpoints").glob("*/")):
        names = sorted(path.name for path in folder.glob("*.pt"))
        if names:
            epochs, steps, *_ = names[-1].split("-")
            yield Check(
                "note",
                f"a training run stopped after {int(epochs)} epochs and {int(steps)} steps; it"
                f" resumes there unless its params or code changed (then delete {folder})",
                "invoke repro",
            )


# ---- GPUs ----


def gpus() -> Iterator[Check]:
    """The driver answers, and others leave the GPUs to the lab."""
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
            f"GPU {index} is in mode {mode}, expected Default: several processes use it at once",
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
    """A number, or 0 for what this GPU does not report: [N/A], [Not Supported]."""
    try:
        return float(text)
    except ValueError:
        return 0.0


def torch_and_gpus() -> Iterator[Check]:
    """Torch imports, computes on each GPU and copies between them.

    In a process of its own: a wrong build crashes, a broken driver hangs.
    """
    command = [sys.executable, "-c", TRY_TORCH]
    try:
        child = subprocess.run(command, capture_output=True, timeout=TORCH_TIMEOUT_S, check=False)
        written, problem = child.stdout, _problem(child.returncode, child.stderr)
    except subprocess.TimeoutExpired as error:
        written, problem = error.stdout or b"", f"does not end within {TORCH_TIMEOUT_S} s"
    step = "starting"
    for line in written.decode(errors="replace").splitlines():
        if line.startswith('{"step": '):
            step = json.loads(line)["step"]
        elif line.startswith('{"level": '):
            yield Check(**json.loads(line))
    if problem:
        fix = "sudo dmesg | tail -50" if "GPU" in step or "cuda" in step else INSTALL
        yield Check("FAIL", f"torch {problem}, {step}", fix)


def _problem(exit_code: int, stderr: bytes) -> str:
    """How a process ended; empty if well."""
    if exit_code < 0:
        return f"is ended by {signal.Signals(-exit_code).name}"
    said = (stderr.decode(errors="replace").strip().splitlines() or ["no reason given"])[-1]
    return f"ends with exit code {exit_code} ({said})" if exit_code else ""


def print_torch_steps() -> None:
    """The other process of `torch_and_gpus`: a line of JSON per step, before it, and finding."""
    for each in run_check(try_torch):
        print(json.dumps({"step": each} if isinstance(each, str) else asdict(each)), flush=True)


def try_torch() -> Iterator[str | Check]:
    yield "importing torch"
    try:
        import torch

        torch.ones(1).numpy()  # fails beside a numpy of another major version
    except (ImportError, OSError, RuntimeError) as error:
        yield Check("FAIL", f"torch does not import: {error}", INSTALL)
        return
    from lab.machine.gpus.check_driver import check_driver

    yield "asking for GPUs"
    check_driver()
    count, name = torch.cuda.device_count(), f"torch {torch.__version__}"
    if count or not _has_gpu_tool():
        yield Check("ok", f"{name}, {count} CUDA GPU(s)")
    elif torch.version.cuda is None:
        yield Check(
            "warn",
            f"{name} is a build for processors only, and there is an NVIDIA driver; pytorch.org,"
            " “Start locally”, has builds for CUDA",
        )
    else:
        yield Check("warn", f"{name} sees no GPU, and there is an NVIDIA driver", "nvidia-smi")
    yield from try_gpus([torch.device("cuda", i) for i in range(count)])


def try_gpus(devices: "Sequence[torch.device]") -> Iterator[str | Check]:
    """Compute on each device, and copy random bytes between each two.

    With an IOMMU between them, GPUs may copy wrong bytes to each other and report no error.
    """
    import torch

    from lab.core.gpu_errors import gpu_errors

    for device in devices:
        yield f"computing on {device}"
        with gpu_errors(str(device)):
            x = torch.rand(512, 512, device=device)
            (x @ x).sum().item()
    sent = torch.randint(0, 256, (COPIED_BYTES,), dtype=torch.uint8)
    damaged = []
    for source, target in itertools.permutations(devices, 2):
        yield f"copying from {source} to {target}"
        with gpu_errors(f"{source} to {target}"):
            arrived = (~sent).to(target)
            arrived.copy_(sent.to(source))
            if not torch.equal(arrived.cpu(), sent):
                damaged.append(f"{source} to {target}")
    if damaged:
        yield Check(
            "FAIL",
            f"copies from {_some(damaged)} arrive damaged, so training on several GPUs gives wrong"
            " weights; turn off PCIe ACS or the IOMMU in the BIOS, or use one GPU",
            "export CUDA_VISIBLE_DEVICES=0",
        )


# ---- running the checks ----

CHECKS: tuple[Callable[[], Iterator[Check]], ...] = (
    *(python, packages, variables, disk_space, loopback, files, writable, params),
    *(dvc_lock, dvc_runs, dvc_busy, data, weights, checkpoints, gpus, torch_and_gpus),
)


def run_check(check: Callable[[], Iterator[Any]]) -> Iterator[Any]:
    """What a check yields; an exception in it is a failure."""
    try:
        yield from check()
    except LabError as error:
        for line in str(error).splitlines():
            yield Check("FAIL", line, exit_code=error.exit_code)
    except ImportError as error:
        yield Check("FAIL", f"not checked: {error}", INSTALL)
    except Exception as error:
        yield Check("FAIL", f"not checked: {type(error).__name__}: {error}")


def repaired(finding: Check) -> Check:
    """The outcome of a finding's repair, if it has one; otherwise the finding."""
    if finding.repair is None:
        return finding
    try:
        return Check("fixed", finding.repair())
    except Exception as error:
        return replace(finding, level="FAIL", text=f"{finding.text}; not fixed: {error}")


def doctor(fix: bool = False) -> int:
    """Run all checks, print what they find, repair it if `fix`, and return the exit code."""
    left = []
    for check in CHECKS:
        for found in run_check(check):
            finding = repaired(found) if fix else found
            name = check.__name__.replace("_", " ")
            print(f"{finding.level:5} {name}: {finding}", flush=True)
            left.append(finding)
    if repairable := sum(finding.repair is not None for finding in left):
        print(f"`{FIX}` repairs {repairable} of these")
    return next((finding.exit_code for finding in left if finding.level == "FAIL"), 0)
