import json
import subprocess
import sys

import torch

from lab.core.files import write_json
from lab.machine import hardware


def test_two_probes_in_two_processes_give_the_same_bytes(tmp_path):
    command = [
        sys.executable,
        "-c",
        "import json; from lab.machine import hardware; print(json.dumps(hardware.facts()))",
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    write_json(tmp_path / "other.json", json.loads(result.stdout))
    write_json(tmp_path / "this.json", hardware.facts())
    assert (tmp_path / "other.json").read_bytes() == (tmp_path / "this.json").read_bytes()


def test_keys_are_sorted_and_free_of_dots():
    """DVC compares them as params, and splits a key at dots."""
    for group, facts in hardware.facts().items():
        assert list(facts) == sorted(facts)
        assert not [key for key in (group, *facts) if "." in key]


def test_a_gpu_machine_fills_the_same_keys(monkeypatch):
    class Properties:
        name, total_memory = "NVIDIA H200", 150_000_000_000

    without = hardware.facts()["accelerator"]
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda i: Properties)
    with_gpus = hardware.facts()["accelerator"]
    assert set(without) == set(with_gpus)
    assert (with_gpus["count"], with_gpus["names"], with_gpus["memory_gib"]) == (
        2,
        ["NVIDIA H200"] * 2,
        [140, 140],
    )
