"""Keep small profiler traces, and list the GPU's longest kernels and copies."""

import gzip
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

MOST_BYTES = 2**20  # of a kept trace, packed; Chrome and Perfetto show the packed file
MOST_NAMED = 3
LONGEST_NAME = 120  # characters of a kernel's name; C++ templates make it endless
ON_GPU = ("kernel", "gpu_memcpy", "gpu_memset")  # kinds of events, as torch.profiler names them


def collect(traces: Path, target: Path) -> dict[str, dict[str, Any]]:
    """Pack traces, NAME.json, into `target` as NAME.json.gz; return a summary of each by name.

    A summary has `longest_ms`, or "left_out" for a damaged trace; a too long one has both.
    """
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(traces.glob("*.json")):
        content = path.read_bytes()
        packed = gzip.compress(content, mtime=0)
        try:
            found[path.stem] = {"longest_ms": longest_ms(json.loads(content)["traceEvents"])}
        except ValueError:
            found[path.stem] = {"left_out": "damaged"}
            continue
        if len(packed) > MOST_BYTES:
            too_long = f"{len(packed)} bytes packed; at most {MOST_BYTES} are kept"
            found[path.stem]["left_out"] = too_long
            continue
        target.mkdir(parents=True, exist_ok=True)
        (target / f"{path.name}.gz").write_bytes(packed)
    return found


def longest_ms(events: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the longest kernels and copies by name, in ms, summed over all calls."""
    taken: Counter[str] = Counter()
    for each in events:
        if each.get("cat") in ON_GPU:
            taken[str(each["name"])[:LONGEST_NAME]] += each["dur"]
    return {name: round(us / 1e3, 4) for name, us in taken.most_common(MOST_NAMED)}
