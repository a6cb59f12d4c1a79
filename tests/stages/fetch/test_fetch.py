"""What fetch reads, derives and writes, and how it ends."""

import json
import os
import subprocess
import sys
from pathlib import Path

import torch

from lab.data.datasets import Split
from stages.fetch import __main__ as fetch
from tests.helpers import ROOT, edit_params


def run_stage(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", *words]
    env = (
        {k: v for k, v in os.environ.items() if k != "LAB_DATA_MIRROR"}
        | {"PYTHONPATH": str(ROOT)}
        | environment
    )
    return subprocess.run(
        command, env=env, capture_output=True, text=True, check=False, timeout=120
    )


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def errors(result: subprocess.CompletedProcess[str]) -> list[str]:
    lines = result.stderr.splitlines()
    assert lines, "an error says something"
    assert all(line.startswith("ERROR: ") for line in lines), result.stderr
    return lines


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
    images = torch.full((2, 28, 28), 51, dtype=torch.uint8).numpy()
    split = Split(images, torch.zeros(2, dtype=torch.int64).numpy())
    metrics = fetch.summarise({"fashion_mnist": "original", "airfoil": "synthetic"}, split, split)
    assert (metrics["dataset"], metrics["airfoil"], metrics["mean_pixel"]) == (
        "fashion-mnist",
        "synthetic",
        51.0,
    )
