"""What the page on loading names beside findings."""

from collections.abc import Mapping

from lab.report.benchmarks import TITLES
from lab.results.findings import Finding, median
from lab.results.measurements import Measurement, Results
from stages.bench_input.findings import epochs, images_of_a_step
from stages.bench_input.measure.names import BOOK, FEEDS, PARTS, WHOLE


def values(results: Results, found: Mapping[str, Finding]) -> dict[str, object]:
    return {
        "batch": int(images_of_a_step(results)),
        "devices": results.conditions["num_devices"],
        "passed": int(results.xs("images", BOOK)[0]),
        "rates": rates(results),
        "steps": step_columns(results),
        "parts": step_rows(results),
    }


def step(results: Results, feed: str, net: str, part: str) -> Measurement:
    """A part of a network's step, or all of it, in ms; x: images."""
    [found] = results.series("step", feed, net=net, part=part)
    return found


def rates(results: Results) -> list[dict[str, object]]:
    """How fast each way feeds: a row of a table."""
    return [
        {
            "name": feed,
            "rate": results.series("images", feed)[0].summary.median,
            "first_s": results.series("first_batch", feed)[0].summary.median / 1e3,
            "epoch_s": median(epochs(results, feed)),
        }
        for feed in results.variants("images")
    ]


def step_columns(results: Results) -> list[dict[str, object]]:
    """The steps whose parts are told: the columns of a table."""
    return [
        {"net": TITLES[net], "feed": feed, "images": int(step(results, feed, net, WHOLE).x)}
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
