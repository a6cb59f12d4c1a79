"""Profiler traces of what was trained: kept small, and told in a few numbers."""

import gzip
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

MOST_BYTES = 2**20  # of a trace that is kept, as packed; Chrome and Perfetto show it as it is
MOST_NAMED = 5
LONGEST_NAME = 120  # of a kernel, whose templates know no end
ON_GPU = ("kernel", "gpu_memcpy", "gpu_memset")  # kinds of events, as torch.profiler names them
ON_CPU = "cpu_op"

Event = Mapping[str, Any]


def collect(traces: Path, target: Path) -> dict[str, dict[str, Any]]:
    """Pack traces, NAME.json, into `target`, as NAME.json.gz; returns each one's summary, by name.

    Those that are too long are told, and not kept; of damaged ones it says only that.
    """
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(traces.glob("*.json")):
        content = path.read_bytes()
        packed = gzip.compress(content, mtime=0)
        try:
            found[path.stem] = summary(json.loads(content)["traceEvents"])
        except (ValueError, LookupError, TypeError, AttributeError):
            found[path.stem] = {"left_out": "damaged"}
            continue
        if len(packed) > MOST_BYTES:
            too_long = f"{len(packed)} bytes packed; at most {MOST_BYTES} are kept"
            found[path.stem]["left_out"] = too_long
            continue
        target.mkdir(parents=True, exist_ok=True)
        (target / f"{path.name}.gz").write_bytes(packed)
    return found


def summary(events: Sequence[Event]) -> dict[str, Any]:
    """How many operations the host began and the GPU ran, how busy that was, and the longest.

    Busy is the share of the time, in percent, in which the GPU ran at least one of them. The
    longest are by name, in ms, summed over all calls.
    """
    timed = [each for each in events if each.get("cat") in (ON_CPU, *ON_GPU)]
    on_gpu = [each for each in timed if each["cat"] != ON_CPU]
    told = {"host_operations": len(timed) - len(on_gpu), "gpu_operations": len(on_gpu)}
    if not on_gpu:
        return told
    began, ended = zip(*map(_span, timed), strict=True)
    busy = sum(end - start for start, end in _joined(map(_span, on_gpu)))
    taken: Counter[str] = Counter()
    for each in on_gpu:
        taken[str(each["name"])[:LONGEST_NAME]] += each["dur"]
    return told | {
        "gpu_busy_percent": round(100 * busy / max(1e-9, max(ended) - min(began)), 1),
        "longest_ms": {name: round(us / 1e3, 4) for name, us in taken.most_common(MOST_NAMED)},
    }


def _span(event: Event) -> tuple[float, float]:
    """When an event began and ended, in microseconds."""
    start = float(event["ts"])
    return start, start + float(event["dur"])


def _joined(spans: Iterator[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """The same times without overlaps."""
    reached = float("-inf")
    for start, end in sorted(spans):
        if end > reached:
            yield max(start, reached), end
            reached = end
