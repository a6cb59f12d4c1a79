"""What fetch reads, derives and writes, and how it ends."""

import json

import numpy as np

from lab.data.datasets import Split
from stages.fetch import __main__ as fetch
from tests.helpers import edit_params, errors, files, run_stage


def test_fetch_without_any_source_draws_labelled_look_alikes(project):
    edit_params({"data.mirrors.fashion_mnist": [], "data.mirrors.airfoil": []})
    result = run_stage("stages.fetch")
    assert result.returncode == 0
    assert "SYNTHETIC" in result.stdout
    metrics = json.loads((project / "reports" / "fetch" / "metrics.json").read_text())
    assert (metrics["dataset"], metrics["airfoil"], metrics["train_images"]) == (
        "synthetic",
        "synthetic",
        60_000,
    )
    assert (
        json.loads((project / "data" / "source.json").read_text())["fashion_mnist"] == "synthetic"
    )
    first = (project / "data" / "source.json").read_bytes()
    assert run_stage("stages.fetch").returncode == 0
    assert (project / "data" / "source.json").read_bytes() == first, (
        "the look-alikes are the same files everywhere"
    )


def test_fetch_fails_where_the_params_say_so(project):
    edit_params(
        {"data.mirrors.fashion_mnist": ["http://127.0.0.1:1"], "data.if_unreachable": "fail"}
    )
    result = run_stage("stages.fetch")
    assert result.returncode == 3
    assert "LAB_DATA_MIRROR" in errors(result)[0]
    assert files(project / "data") == set()


def test_fetch_says_what_it_fetched():
    train, test = (Split(np.zeros((n, 28, 28), np.uint8), np.zeros(n, np.int64)) for n in (3, 2))
    source = {"fashion_mnist": "original", "airfoil": "synthetic"}
    assert fetch.summarise(source, train, test) == {
        "dataset": "fashion-mnist",
        "airfoil": "synthetic",
        "train_images": 3,
        "test_images": 2,
    }
