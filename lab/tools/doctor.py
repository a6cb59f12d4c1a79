"""What is wrong with this environment, and how to mend it?

One line per check; exit code 4 if one fails.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

import psutil
import requests
from packaging.requirements import Requirement

from lab.core.errors import LabError, MachineError
from lab.core.exit_codes import run
from lab.core.params import Section, load, read_yaml
from lab.data import datasets, download

Check = Callable[[], str]  # returns what is well, raises LabError (wrong) or Warning (works, but)
MIN_FREE_GB = 2
LOCK_FILE = Path(".dvc/tmp/rwlock")


class _DataParams(Section):
    data: download.DataParams


def interpreter() -> str:
    """The interpreter is of a supported version, and the one that `python` means."""
    if not (3, 11) <= sys.version_info[:2] <= (3, 13):
        raise MachineError(
            f"Python {sys.version.split()[0]}; make the environment with Python 3.11, 3.12 or 3.13"
        )
    on_path = shutil.which("python")
    if on_path is None or Path(on_path).parent.resolve() != Path(sys.executable).parent.resolve():
        raise Warning(
            f"`python` on PATH is {on_path}; use `invoke`, or activate"
            f" {Path(sys.executable).parent.parent}"
        )
    return f"Python {sys.version.split()[0]} at {sys.executable}"


def packages() -> str:
    """Every dependency is installed in a version that pyproject.toml admits."""
    try:
        wanted = [Requirement(line) for line in requires("d2l-lab") or []]
    except PackageNotFoundError:
        raise MachineError(
            "the lab is not installed here; pip install -e . -c constraints.txt"
        ) from None
    wrong = []
    for requirement in wanted:
        if requirement.marker is None or requirement.marker.evaluate():
            try:
                found = version(requirement.name)
            except PackageNotFoundError:
                found = "nothing"
            if found == "nothing" or not requirement.specifier.contains(found, prereleases=True):
                wrong.append(f"{requirement} (found {found})")
    if wrong:
        raise MachineError(f"{', '.join(wrong)}; pip install -e . -c constraints.txt")
    return f"{len(wanted)} dependencies within their ranges"


def torch_and_torchvision() -> str:
    """Torch and torchvision belong to one release, and torchvision imports."""
    import torch

    from lab.machine.torchvision_import import has_compiled_ops, torchvision

    pair = f"torch {torch.__version__}, torchvision {torchvision.__version__}"
    minors = [int(module.__version__.split(".")[1]) for module in (torch, torchvision)]
    if minors[1] - minors[0] != 15:  # 2.11 goes with 0.26, 2.12 with 0.27, ...
        raise MachineError(f"{pair} are of different releases; pip install -e . -c constraints.txt")
    gpus = f"{torch.cuda.device_count()} CUDA GPU(s)"
    if shutil.which("nvidia-smi") and not torch.cuda.is_available():
        raise Warning(
            f"{pair}: there is an NVIDIA driver but this torch uses no GPU; install a CUDA build"
            " of torch"
        )
    return f"{pair}, {gpus}" + (
        "" if has_compiled_ops() else "; torchvision without compiled operators (not needed)"
    )


def git() -> str:
    """Git is installed, and this is a repository."""
    if shutil.which("git") is None:
        raise MachineError("git is not installed; DVC compares and records through it")
    result = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    if result.returncode:
        reason = (result.stderr.strip().splitlines() or ["no commit yet"])[0]
        raise MachineError(
            f"{reason}; clone the project rather than unpack it, or `dvc config core.no_scm true`"
        )
    return f"at commit {result.stdout.strip()}"


def pipeline() -> str:
    """dvc.lock parses, and no dead DVC process holds a lock."""
    try:
        stages = read_yaml(Path("dvc.lock")).get("stages", {})
    except LabError as error:
        raise MachineError(
            f"{error}; `git checkout dvc.lock` brings the committed one back"
        ) from None
    commands = (process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"]))
    running = any(Path(word).name == "dvc" for command in commands for word in command[:2])
    if LOCK_FILE.exists() and '"pid"' in LOCK_FILE.read_text(errors="replace") and not running:
        raise Warning(
            f"{LOCK_FILE} is left by a DVC that is gone; delete it if DVC says that it is busy"
        )
    return f"dvc {version('dvc')}, dvc.lock has {len(stages)} stages"


def disk() -> str:
    """There is room for data, weights and DVC's cache, and for temporary files."""
    free = {
        str(folder): shutil.disk_usage(folder).free / 1e9
        for folder in (Path.cwd(), Path(tempfile.gettempdir()))
    }
    short = [f"{folder} has {gb:.1f} GB free" for folder, gb in free.items() if gb < MIN_FREE_GB]
    if short:
        raise MachineError(f"{', '.join(short)}; make room for {MIN_FREE_GB} GB")
    return f"{min(free.values()):.0f} GB free"


def data_sets() -> str:
    """The data are here and original, or a source of them answers."""
    try:
        source = datasets.read_source()
    except LabError:
        return f"not fetched yet; found at {_first_source()}"
    if "synthetic" in source.values():
        raise Warning(
            f"{source}: look-alikes; {_first_source()} has the originals: `invoke remeasure"
            " --stage fetch`"
        )
    (
        datasets.read_fashion_mnist("train"),
        datasets.read_fashion_mnist("t10k"),
        datasets.read_airfoil(),
    )
    return "Fashion-MNIST and airfoil table, unchanged since they were fetched"


def _first_source() -> str:
    """The first source that has the first file.

    Raises:
        Warning: no source answers.
    """
    file = download.FASHION_FILES[0]
    for source in download.sources(file, load(_DataParams).data.mirrors.fashion_mnist):
        try:
            if source.startswith(("http://", "https://")):
                requests.head(source, timeout=5, allow_redirects=True).raise_for_status()
            elif not Path(source.removeprefix("file://")).is_file():
                continue
            return source.rsplit("/", 1)[0]
        except requests.RequestException:
            continue
    raise Warning(
        f"no source of {file.name} answers; set {download.MIRROR_VARIABLE} to a folder with"
        " fashion-mnist/ and "
        "airfoil/, or go on with labelled synthetic data"
    )


CHECKS: tuple[Check, ...] = (
    interpreter,
    packages,
    torch_and_torchvision,
    git,
    pipeline,
    disk,
    data_sets,
)


def examine(checks: tuple[Check, ...] = CHECKS) -> Iterator[tuple[str, str, str]]:
    """Run the checks: for each (`ok`, `warn` or `FAIL`, its name, what it found)."""
    for check in checks:
        name = check.__name__.replace("_", " ")
        try:
            yield "ok", name, check()
        except Warning as warning:
            yield "warn", name, str(warning)
        except (LabError, ImportError, RuntimeError) as error:
            yield "FAIL", name, " ".join(str(error).split())


def main() -> None:
    """Print the outcome of every check.

    Raises:
        MachineError: a check failed.
    """
    failed = 0
    for level, name, message in examine():
        print(f"{level:4}  {name}: {message}", flush=True)
        failed += level == "FAIL"
    if failed:
        raise MachineError(f"{failed} check(s) failed; each line above says what to do")


if __name__ == "__main__":
    sys.exit(run(main))
