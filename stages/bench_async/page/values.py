"""What the page on asynchronous computation names beside findings."""

from collections.abc import Mapping

from lab.results.findings import Finding
from lab.results.measurements import Results


def values(results: Results, found: Mapping[str, Finding]) -> dict[str, object]:
    return {
        "size": int(results.xs("book", "torch, products alone")[0]),
        "starts": results.conditions["starts"],
        "noisy_percent": results.conditions["noisy_percent"],
    }
