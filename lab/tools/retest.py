"""Retest: whole runs of this machine, kept to see whether their verdicts agree.

`invoke retest` measures everything again and keeps the results as `reports/retest/N.json`. The page
shows what two or more runs agree on.
"""

from collections.abc import Iterator
from pathlib import Path

from lab.claims.agreement import AIM_PERCENT, Agreement, agreement_of
from lab.core.files import REPORTS, write_json
from lab.tools.references import Reference, judged, read_reference, results_of_here

RETEST = REPORTS / "retest"


def keep() -> Path:
    """Keep the current results as the next run, and return its file.

    Runs of a different machine or profile are deleted; git has the committed ones.

    Raises:
        DataError: there are no results, or a file is damaged.
    """
    kept = paths()
    number = 1 + (int(kept[-1].stem) if kept else 0)
    document = results_of_here(str(number))
    for path in kept:
        if any(read_reference(path)[key] != document[key] for key in ("profile", "hardware")):
            path.unlink()
    path = RETEST / f"{number}.json"
    write_json(path, document)
    return path


def paths(folder: Path = RETEST) -> list[Path]:
    """Return the files of the kept runs, in order."""
    numbered = (path for path in folder.glob("*.json") if path.stem.isdecimal())
    return sorted(numbered, key=lambda path: int(path.stem))


def runs(folder: Path = RETEST) -> list[Reference]:
    """Return the kept runs, all of one machine and profile.

    Raises:
        DataError: a file is damaged.
    """
    return [judged(path) for path in paths(folder)]


def summary(found: Agreement) -> Iterator[str]:
    """Yield lines on what the runs agree on."""
    yield f"{found.num_runs} run(s), {len(found.pairs)} pairs of effects"
    if found.pairs:
        yield (
            f"{found.percent:.1f} % differ by no more than their intervals explain"
            f" (aim: {AIM_PERCENT} %)"
        )
        yield f"apart: {', '.join(f'{name} ({n})' for name, n in found.apart.items()) or 'none'}"
        contradicted = ", ".join(found.contradicted) or "none"
        yield f"confirmed in one run, refuted in another: {contradicted}"


def retest() -> None:
    """Keep the current run and print what all runs agree on."""
    print(keep())
    print("\n".join(summary(agreement_of([run.judgements.values() for run in runs()]))))
