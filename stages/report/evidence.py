"""The evidence for all pages, read once: verdicts, machines, and other machines' results.

Claims are what compares across machines: a verdict, and an effect with its interval.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.claims.verdicts import Judgement, judge_all
from lab.core.errors import LabError
from lab.core.files import CONDITIONS, read_json
from lab.report.machines import Machines, machines_of
from lab.results.derived import whatever_is_under
from lab.results.diff import Taken, diff
from lab.results.documents import read_hardware
from lab.tools.profiles import in_use, is_smoke
from lab.tools.references import Reference, judged


@dataclass(frozen=True)
class Evidence:
    """What all pages share, besides the questions' own results.

    Attributes:
        judgements: judgements on all claims.
        machines: the machines that measured.
        references: other machines, without a snapshot of these very results.
        damaged: the errors of damaged reference files.
        synthetic: the data sets that are look-alikes.
        profile: the profile of params.yaml.
        smoke: whether params.yaml has all values of `smoke`, whose numbers mean nothing.
    """

    judgements: Sequence[Judgement]
    machines: Machines
    references: Sequence[Reference]
    damaged: Sequence[str]
    synthetic: Sequence[str]
    profile: str
    smoke: bool


def read_evidence(reports: Path) -> Evidence:
    """Read the evidence.

    Raises:
        DataError: the facts of the machine in use are missing or damaged.
    """
    judgements = judge_all(whatever_is_under(reports))
    here = {f.claim.id: f for f in judgements}
    references, damaged = [], []
    for path in sorted((reports / "reference").glob("*.json")):
        try:
            reference = judged(path)
        except LabError as error:
            damaged.append(str(error))
            continue
        if diff(_taken(here), _taken(reference.judgements)):
            references.append(reference)
    machines = machines_of(reports, read_hardware())
    synthetic = _synthetic(reports)
    return Evidence(judgements, machines, references, damaged, synthetic, in_use(), is_smoke())


def _taken(judgements: Mapping[str, Judgement]) -> Taken:
    return Taken({claim: f.finding for claim, f in judgements.items() if f.finding})


def _synthetic(reports: Path) -> list[str]:
    try:
        fetched = read_json(reports / "fetch" / CONDITIONS)
    except LabError:
        return []
    original = {
        "Fashion-MNIST": fetched.get("dataset") == "fashion-mnist",
        "airfoil": fetched.get("airfoil") == "original",
    }
    return [name for name, is_original in original.items() if not is_original]
