"""What the page on two devices names: numbers, and what they decide."""

from pathlib import Path
from typing import Any

from lab.report.benchmarks import ratio_of, read
from lab.results.measurements import Results
from lab.results.stats import Ratio, speedup, summarise

VERDICTS = ("faster", "slower", "inconclusive")
OUTCOMES = {
    "kind": ("cpu-virtual", "cuda", "cuda-shared"),
    "verdict": VERDICTS,
    "second_thread": (True, False),
    "chains_verdict": VERDICTS,
    "warm_up_verdict": VERDICTS,
}
WAYS = {  # of the notes' run, as the page calls them
    "first alone": "first device only",
    "second alone": "second device only",
    "one after the other": "sequentially",
    "together": "concurrently",
}
CHAINS = {
    "dependent, one device": "one chain, one device",
    "dependent, two devices": "one chain, two devices",
    "independent, two devices": "two chains, two devices",
}


def values(folder: Path) -> dict[str, object]:
    """The values of `folder` (reports/bench_parallel)."""
    results, m = read(folder)
    gain, first_run = ratio_of(m, "speedup"), longer(results, "first run")
    chains, on_two = chain_speedup(results, "independent"), chain_speedup(results, "dependent")
    first, second, in_turn, both = (results.series("products", way)[-1] for way in WAYS)
    one_thread = [a + b for a, b in zip(first.values, second.values, strict=True)]
    costs = speedup(in_turn.values, one_thread).verdict == "faster"
    return {
        "kind": m["device_kind"],
        "verdict": gain.verdict,
        "speedup": gain,
        "size": int(both.x),
        "sequential_s": in_turn.summary.median / 1e3,
        "concurrent_s": both.summary.median / 1e3,
        "slower_s": max(first.summary.median, second.summary.median) / 1e3,
        # whether a run takes longer in a second thread than in the main one, where all are alone
        "second_thread": m["device_kind"] == "cpu-virtual" and costs,
        "one_thread_s": summarise(one_thread).median / 1e3,
        "over_one_thread": speedup(one_thread, both.values),
        "chains": chains,
        "chains_verdict": chains.verdict,
        "one_chain_on_two": on_two,
        "first_run": first_run,
        "warm_up_verdict": first_run.verdict,
        "second_run": longer(results, "second run"),
        "waits": waits(results),
        "sizes": sizes(results),
        "starts": m["starts"],
    }


def longer(results: Results, run: str) -> Ratio:
    """How many times as long as the later runs of a process an early one takes."""
    early, later = (results.series("warm-up", each)[0].values for each in (run, "later runs"))
    return speedup(early, later)


def chain_speedup(results: Results, chains: str) -> Ratio:
    """How many times as fast chains on two devices are as one chain on one of them."""
    one, two = (
        results.series("dependencies", name)[0].values
        for name in ("dependent, one device", f"{chains}, two devices")
    )
    return speedup(one, two)


def waits(results: Results) -> dict[str, float]:
    """Seconds that the notes' wait reports, and that both GPUs take; without two GPUs nothing."""
    names = {"notes_s": "wait without an argument", "both_s": "wait for both GPUs"}
    found = {key: results.one("products, second job longer", name) for key, name in names.items()}
    return {key: m.summary.median / 1e3 for key, m in found.items() if m}


def sizes(results: Results) -> list[dict[str, Any]]:
    """The times of both ways, and their ratio, by the size of the matrices."""
    in_turn, both = (results.series("products", w) for w in ("one after the other", "together"))
    return [
        {
            "rows": int(new.x),
            "sequential_s": old.summary.median / 1e3,
            "concurrent_s": new.summary.median / 1e3,
            "speedup": speedup(old.values, new.values),
        }
        for old, new in zip(in_turn, both, strict=True)
    ]
