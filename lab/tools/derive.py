"""Rewrite each stage's metrics.json from its rows: `invoke derive`.

Use it after changing how a number is derived. DVC would measure again, since it wants the old
metrics.json back. So `dvc commit` accepts the new one where nothing else of the stage changed.
"""

import itertools
import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dvc.repo import Repo

from lab.core.files import METRICS, REPORTS
from lab.results.derived import derived, write_metrics

log = logging.getLogger(__name__)
logging.getLogger("dvc").setLevel(logging.WARNING)  # it logs each lock file that it writes


def rewrite(reports: Path = REPORTS) -> list[Path]:
    """Write the metrics that follow from the rows under `reports`; return the files that changed.

    Raises:
        DataError: rows are damaged.
    """
    changed = []
    for name, derivation in derived(reports):
        metrics = reports / name / METRICS
        before = metrics.read_bytes() if metrics.is_file() else b""
        write_metrics(metrics.parent, derivation)
        if metrics.read_bytes() != before:
            changed.append(metrics)
    return changed


def accept(changed: list[Path]) -> None:
    """Commit changed metrics to DVC as results, for stages that have no other change."""
    with Repo() as repo:
        for path in changed:
            stage = path.parent.relative_to(REPORTS).as_posix().replace("/", "@")
            if any(what != path.as_posix() for what in _changes(repo.status([stage]))):
                log.warning(
                    "%s: changed in other ways as well; `invoke repro --stage %s`", stage, stage
                )
            else:
                repo.commit(stage, force=True, allow_missing=True)
                log.info("%s", path)


def _changes(status: Mapping[str, Sequence[Any]]) -> Iterator[str]:
    """Yield the paths and params that DVC finds changed, but not weights missing from the cache."""
    for each in itertools.chain(*status.values()):
        if isinstance(each, str):  # such as "changed command"
            yield each
        else:
            for what in each.values():
                yield from (path for path, how in what.items() if how != "not in cache")


def derive() -> None:
    """Rewrite all metrics from the rows, and have DVC accept the changed ones."""
    if changed := rewrite():
        accept(changed)
    else:
        log.info("all metrics are as the rows have them")
