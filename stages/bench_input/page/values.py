"""What the page on loading names: numbers, and what they decide."""

from collections.abc import Sequence
from pathlib import Path

from lab.data.datasets import FASHION_COUNTS
from lab.report.benchmarks import TITLES, ratio_of, read
from lab.results.measurements import Measurement, Results
from lab.results.stats import POSITIVE, Ratio, median_of, speedup
from stages.bench_input.measure.names import (
    BOOK,
    FEEDS,
    NO_WORKERS,
    PARTS,
    PERSISTENT,
    RESIDENT,
    WHOLE,
)

OUTCOMES = {
    "bottleneck": (False, True),
    "crowded": (False, True),
    "alone_longer": (False, True),
    "like_the_book": (False, True),
    "gpu": (False, True),
}
WAYS = {  # what feeds a network, as the page calls it
    BOOK: "the book's loader",
    PERSISTENT: "persistent workers",
    NO_WORKERS: "no workers",
    RESIDENT: "kept in memory",
}
EPOCH_IMAGES = FASHION_COUNTS["train"]
BOOKS_RATE = 20_000  # images/s of the book's LeNet on a GPU: an epoch in 3.0 s
ALIKE = 3  # times as fast or as slow at most


def values(folder: Path) -> dict[str, object]:
    """The values of `folder` (reports/bench_input)."""
    results, m = read(folder)
    batch = int(step(results, RESIDENT, "lenet", WHOLE).x)
    rate = results.series("images", BOOK)[0].summary.median
    steps = {
        each: step(results, each, "lenet", WHOLE).summary.median / 1e3 for each in FEEDS["lenet"]
    }
    crowding = speedup(compute_ms(results, BOOK), compute_ms(results, NO_WORKERS))
    whole = [step(results, each, "lenet", WHOLE).values for each in (NO_WORKERS, RESIDENT)]
    alone = speedup(*whole)
    [read_ms], [preprocess_ms] = (
        results.series("preparation", each) for each in ("read", "preprocess")
    )
    return {
        "batch": batch,
        "loader_s": batch / rate,
        "rate": rate,
        "like_the_book": BOOKS_RATE / ALIKE < rate < BOOKS_RATE * ALIKE,
        "step_s": steps[RESIDENT],
        "book_step_s": steps[BOOK],
        "slower": speedup(*(step(results, f, "lenet", WHOLE).values for f in (BOOK, RESIDENT))),
        "bottleneck": batch / rate > steps[RESIDENT],
        "book_epoch_s": median_of(epochs(results, BOOK), POSITIVE),
        "memory_epoch_s": median_of(epochs(results, RESIDENT), POSITIVE),
        "gain": ratio_of(m, "resident_over_book"),
        "wait_s": step(results, BOOK, "lenet", "load").summary.median / 1e3,
        "load_s": step(results, NO_WORKERS, "lenet", "load").summary.median / 1e3,
        "crowding": crowding,
        "crowded": crowding.verdict == "faster",
        "alone": alone,
        "alone_longer": alone.verdict == "faster",
        "read_s": read_ms.summary.median / 1e3,
        "preprocess_s": preprocess_ms.summary.median / 1e3,
        "calls": share_of_calls(results),
        "first_batch_s": m["the_books_loader_first_batch_ms"] / 1e3,
        "passed": int(results.series("images", BOOK)[0].x),
        "gpu": m["device_kind"].startswith("cuda"),
        "rates": rates(results),
        "steps": step_columns(results),
        "parts": step_rows(results),
    }


def step(results: Results, feed: str, net: str, part: str) -> Measurement:
    """A part of a network's step, or all of it, in ms; x: images."""
    [found] = results.series("step", feed, net=net, part=part)
    return found


def compute_ms(results: Results, feed: str) -> list[float]:
    """Forward and backward of LeNet's step in each process."""
    both = (step(results, feed, "lenet", part).values for part in ("forward", "backward"))
    return [forward + backward for forward, backward in zip(*both, strict=True)]


def share_of_calls(results: Results) -> Ratio:
    """What Python and the framework take of the notes' step at the largest batch."""
    [calls] = results.series("python", "its calls alone")
    return speedup(calls.values, results.series("python", "step")[-1].values)


def epochs(results: Results, feed: str) -> Sequence[float]:
    """Seconds of an epoch by a feed, for each process; what was not passed at the same rate."""
    if epoch := results.one("epoch", feed):
        return epoch.values
    [first], [rate] = (results.series(experiment, feed) for experiment in ("first_batch", "images"))
    return [
        ms / 1e3 + EPOCH_IMAGES / each for ms, each in zip(first.values, rate.values, strict=True)
    ]


def rates(results: Results) -> list[dict[str, object]]:
    """How fast each way feeds: a row of a table."""
    return [
        {
            "name": WAYS[feed],
            "rate": results.series("images", feed)[0].summary.median,
            "first_s": results.series("first_batch", feed)[0].summary.median / 1e3,
            "epoch_s": median_of(epochs(results, feed), POSITIVE),
        }
        for feed in results.variants("images")
    ]


def step_columns(results: Results) -> list[dict[str, object]]:
    """The steps whose parts are told: the columns of a table."""
    return [
        {"net": TITLES[net], "feed": WAYS[feed], "images": int(step(results, feed, net, WHOLE).x)}
        for net, feeds in FEEDS.items()
        for feed in feeds
    ]


def step_rows(results: Results) -> list[dict[str, object]]:
    """Seconds of each part of these steps: the rows of the table."""
    return [
        {
            "name": part,
            "cells": [
                step(results, feed, net, part).summary.median / 1e3
                for net, feeds in FEEDS.items()
                for feed in feeds
            ],
        }
        for part in (*PARTS, WHOLE)
    ]
