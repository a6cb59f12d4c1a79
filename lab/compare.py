"""Compare params and metrics with a commit, and say which changes mean something.

Wraps `dvc params diff` and `dvc metrics diff`. A metric `x` with an `x_iqr` beside it is a measured median: it
moved only if it moved by more than the noise of both sides. Nothing is compared across hardware.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from lab.errors import LabError
from lab.records import HARDWARE_FILE
from lab.runner import run
from lab.stats import exceeds_noise

Change = Mapping[str, Any]  # DVC's {"old": ..., "new": ..., "diff": ...}
SPREAD = "_iqr"


def mark(old: Any, new: Any, old_iqr: float, new_iqr: float, other_hardware: bool) -> str:
    """Return what a change from `old` to `new` amounts to; an IQR of 0 means that the metric is exact."""
    if old is None or new is None:
        return "new" if old is None else "gone"
    if old == new:
        return "same"
    if other_hardware:
        return "other hardware"
    measured = old_iqr > 0 or new_iqr > 0
    return "within noise" if measured and not exceeds_noise(old, new, old_iqr, new_iqr) else "changed"


def table(metrics: Mapping[str, Mapping[str, Change]], other_hardware: bool) -> Iterator[tuple[str, ...]]:
    """Yield (file, metric, old, new, mark) for each metric that differs; spreads stand behind their medians."""
    for file, changes in metrics.items():
        for name, change in changes.items():
            if name.endswith(SPREAD) and name.removesuffix(SPREAD) in changes:
                continue
            spread = changes.get(name + SPREAD, {})
            spreads = [float(spread.get(side) or 0) for side in ("old", "new")]
            verdict = mark(change.get("old"), change.get("new"), spreads[0], spreads[1], other_hardware)
            if verdict != "same":
                sides = [
                    _in_words(change.get(side), iqr) for side, iqr in zip(("old", "new"), spreads, strict=True)
                ]
                yield file, name, *sides, verdict


def _in_words(value: Any, iqr: float) -> str:
    if value is None:
        return "-"
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return f"{text} (IQR {iqr:.3g})" if iqr else text


def _dvc(*arguments: str) -> dict[str, Any]:
    """Return the JSON that a DVC command prints.

    Raises:
        LabError: it failed; DVC's own line says why.
    """
    command = [sys.executable, "-m", "dvc", *arguments, "--json"]
    print("$ dvc", *arguments, flush=True)
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        lines = result.stderr.strip().splitlines() or ["no reason given"]
        raise LabError(
            f"dvc {' '.join(arguments)}: {lines[0].removeprefix('ERROR: ')}; name a commit of this repository"
        )
    return dict(json.loads(result.stdout or "{}"))


def _print_aligned(rows: list[tuple[str, ...]]) -> None:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def main() -> None:
    """Print changed params, changed hardware, and changed metrics with what each change amounts to."""
    rev = sys.argv[1] if len(sys.argv) > 1 else "HEAD"
    params = _dvc("params", "diff", rev)
    metrics = _dvc("metrics", "diff", rev, "--all")
    hardware = params.pop(str(HARDWARE_FILE), {})
    for file, changes in params.items():
        for key, change in changes.items():
            print(f"{file}: {key}: {change.get('old')} -> {change.get('new')}")
    for key, change in hardware.items():
        print(f"other hardware: {key}: {change.get('old')} -> {change.get('new')}; times are not compared")
    rows = list(table(metrics, other_hardware=bool(hardware)))
    if rows:
        _print_aligned([("file", "metric", rev, "workspace", ""), *rows])
    else:
        print(f"no metric differs from {rev}")


if __name__ == "__main__":
    sys.exit(run(main))
