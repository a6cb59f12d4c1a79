"""The experiments of `dvc exp run` since the last commit: what they changed, and what came out.

Wraps `dvc exp show`, whose columns carry the path of a file each and do not fit a terminal.
"""

import csv
import re
import subprocess
import sys
from collections.abc import Iterator

from lab.core.errors import ParamsError
from lab.core.process import run
from lab.tools.compare import aligned

DVC = ("exp", "show", "--only-changed", "--hide-workspace", "--csv")
OF_DVC = ("Experiment", "rev", "typ", "Created", "parent", "State", "Executor")  # its own columns


def table(shown: str) -> Iterator[tuple[str, ...]]:
    """Two rows of names, the run or stage and its key, and a row for each experiment.

    Params come first. `shown` is DVC's CSV; its deps, paths with a hash below, are left out.
    """
    rows = csv.DictReader(shown.splitlines())
    names = [name for name in rows.fieldnames or () if name not in OF_DVC]
    names = [name for name in names if "/" not in name or ":" in name]
    names.sort(key=lambda name: "metrics.json:" in name)
    parts = [["", *re.split(r"/metrics\.json:|[/.:]", name)][-2:] for name in names]
    yield "", *(owner for owner, _ in parts)
    yield "experiment", *(key for _, key in parts)
    for row in rows:
        yield row.get("Experiment") or row["rev"], *(row[name] or "–" for name in names)


def main() -> None:
    """Print the experiments, after the commit that they began with."""
    print("$ dvc", *DVC, file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "dvc", *DVC]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise ParamsError(result.stderr.strip().removeprefix("ERROR: "))
    names, keys, *experiments = table(result.stdout)
    if not experiments:
        print("none since the last commit; `dvc exp run -S KEY=VALUE train@NAME` makes one")
        return
    print("\n".join(aligned([names, keys, *experiments])))


if __name__ == "__main__":
    sys.exit(run(main))
