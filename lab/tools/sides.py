"""One side of a comparison: the results here, of a commit, or of a reference machine."""

import io
import subprocess
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lab.claims.verdicts import judge_all
from lab.core.errors import DataError, MachineError, ParamsError, instead_of
from lab.core.files import HARDWARE_FILE, REPORTS
from lab.core.params import PARAMS_FILE, read_yaml
from lab.results.derived import taken_under
from lab.results.diff import Taken
from lab.results.documents import read_hardware
from lab.tools.profiles import OWN_PARAMS, leaves
from lab.tools.references import REFERENCE, path_of, read_reference, taken_of


@dataclass(frozen=True)
class Side:
    """Results to be compared.

    Attributes:
        taken: results by folder under reports: a stage's, or `train/<run>`.
        hardware: the machine's facts.
        params: values by dotted key.
    """

    taken: Mapping[str, Taken]
    hardware: Mapping[str, Any]
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def verdicts(self) -> dict[str, str]:
        """The verdicts by claim, for the stages that were measured."""
        judged = judge_all(self.taken)
        return {f.claim.id: f.verdict.value for f in judged if f.claim.stage in self.taken}


def side_in(project: Path) -> Side:
    """Read the results and params in a folder.

    Raises:
        DataError: a file of the results is damaged.
        ParamsError: params.yaml is damaged.
    """
    reports, facts = project / REPORTS, project / HARDWARE_FILE
    hardware = read_hardware(facts) if facts.is_file() else {}
    taken = {
        folder: replace(each, machine=each.machine or hardware)
        for folder, each in taken_under(reports).items()
    }
    return Side(taken, hardware, dict(leaves(read_yaml(project / PARAMS_FILE))))


def side_of_commit(rev: str) -> Side:
    """Read the results and params of a commit, a tag or one of DVC's experiments.

    Raises:
        ParamsError: there is no such commit, or it has no results.
        MachineError: git does not work here.
        DataError: its results have a different format than today's.
    """
    check_git()
    found = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{rev}^{{commit}}")
    found = found or _git("for-each-ref", "--format=%(objectname)", f"refs/exps/*/*/{rev}")
    commit = found.decode().strip()
    if not commit and not _git("rev-parse", "HEAD"):
        raise ParamsError("no commit yet, so nothing to compare with; `git add -A && git commit`")
    paths = (PARAMS_FILE.as_posix(), REPORTS.as_posix())
    archive = commit and _git("archive", "--format=zip", commit, "--", *paths)
    if not archive:
        raise ParamsError(
            f"{rev}: no commit with {PARAMS_FILE} and {REPORTS}/; name one of this repository"
        )
    with TemporaryDirectory() as folder:
        with zipfile.ZipFile(io.BytesIO(archive)) as files:
            files.extractall(folder)
        try:
            return side_in(Path(folder))
        except DataError as error:
            raise DataError(str(error).replace(f"{folder}/", f"{rev}:")) from None


def check_git() -> None:
    """Raise MachineError with git's own words if it does not work, as in another user's folder."""
    try:
        subprocess.run(["git", "rev-parse"], capture_output=True, text=True, check=True)
    except FileNotFoundError:
        raise MachineError("git is not installed; `sudo apt install git`") from None
    except subprocess.CalledProcessError as error:
        said = " ".join(error.stderr.split())
        fix = "; `git init`" if "not a git repository" in said else ""
        raise MachineError(said + fix) from None


def _git(*words: str) -> bytes:
    """Return what a git command prints; nothing if it fails."""
    ended = subprocess.run(["git", *words], capture_output=True, check=False)
    return b"" if ended.returncode else ended.stdout


def side_of_reference(name: str) -> tuple[Side, str]:
    """Read a reference's results, and return them with its profile in words.

    Raises:
        ParamsError: there is no `reports/reference/NAME.json`.
        DataError: the file is damaged.
    """
    path = path_of(name)
    if not path.is_file():
        known = instead_of(name, [found.stem for found in REFERENCE.glob("*.json")])
        raise ParamsError(f"{path}: no such reference; {known}; `invoke snapshot` makes one")
    reference = read_reference(path)
    profile = reference["profile"]
    return (
        Side(taken_of(reference), reference["hardware"]),
        profile if profile == OWN_PARAMS else f"the profile {profile}",
    )
