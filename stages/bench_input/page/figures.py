"""Figures and tables of the page on loading."""

from itertools import accumulate

from lab.report import plots
from lab.report.benchmarks import TITLES, on_virtual_devices
from lab.report.language import say, translation
from lab.report.page import Figure
from lab.results.findings import Findings, median
from lab.results.measurements import Measurement, Results
from stages.bench_input.findings import epochs, images_of_a_step
from stages.bench_input.measure.names import BOOK, FEEDS, PARTS, WHOLE


def values(results: Results, found: Findings) -> dict[str, object]:
    return {
        "batch": int(images_of_a_step(results)),
        "passed": int(results.xs("images", BOOK)[0]),
        "rates": rates(results),
        "steps": step_columns(results),
        "parts": step_rows(results),
    }


def figures(results: Results, found: Findings) -> list[Figure]:
    virtual = on_virtual_devices(results.conditions)
    rows = {translation(feed): parts(results, feed) for feed in FEEDS["lenet"]}
    seconds = {
        translation(feed): epochs(results, feed).values for feed in results.variants("images")
    }
    return [
        Figure("step_parts", [plots.timeline(rows, say("Time of a step (ms)"), virtual=virtual)]),
        Figure("input_epochs", [plots.bars(seconds, say("Time of an epoch (s)"), virtual=virtual)]),
    ]


def step(results: Results, feed: str, net: str, part: str) -> Measurement:
    """Return the row of a part of a network's step, or of the whole, in ms; x: images."""
    [found] = results.series("step", feed, net=net, part=part)
    return found


def rates(results: Results) -> list[dict[str, object]]:
    """Return each feed's rate, first batch and epoch, as rows of a table."""
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
    """Return the steps that are shown in parts, as columns of a table."""
    return [
        {"net": TITLES[net], "feed": feed, "images": int(step(results, feed, net, WHOLE).x)}
        for net, feeds in FEEDS.items()
        for feed in feeds
    ]


def step_rows(results: Results) -> list[dict[str, object]]:
    """Return the seconds of each part of these steps, as rows of the table."""
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


def parts(results: Results, feed: str) -> list[plots.Span]:
    """Return the spans of LeNet's step, one after the other."""
    kinds = {
        say("load"): ("load",),
        say("forward"): ("forward",),
        say("backward"): ("backward",),
        say("transfer, all-reduce, update"): ("transfer", "all-reduce", "update"),
    }
    ms = [
        sum(step(results, feed, "lenet", part).summary.median for part in of_kind)
        for of_kind in kinds.values()
    ]
    ends = list(accumulate(ms, initial=0.0))
    return [plots.Span(*each) for each in zip(kinds, ends, ends[1:], strict=False)]
