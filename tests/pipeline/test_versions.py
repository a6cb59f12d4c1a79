"""The versions that pyproject.toml promises: what the code uses is there at both ends of them."""

import ast
import tomllib
from dataclasses import field, make_dataclass
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from lab.core.shared_params import DistributedParams
from lab.parallel import launch
from lab.tools.doctor.environment import PYTHONS
from tests.helpers import ROOT
from tests.pipeline import torch_names
from tests.pipeline.torch_names import arguments, minor, names, table, used

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
RANGES = {r.name: r.specifier for r in map(Requirement, PROJECT["dependencies"])}
ENDS = table()
# the launcher gives these only where they are known (`lab/parallel/launch.py`)
NOT_AT_BOTH = {"torch.distributed.launcher.api.LaunchConfig": {"shutdown_timeout"}}


def admitted(versions: SpecifierSet, major: int) -> list[str]:
    """The minor versions of one major that a range admits."""
    return [f"{major}.{n}" for n in range(60) if f"{major}.{n}.0" in versions]


def test_the_ends_of_the_range_of_torch_are_those_that_were_looked_up():
    promised = admitted(RANGES["torch"], 2)
    assert list(ENDS) == [promised[0], promised[-1]]
    vision = admitted(RANGES["torchvision"], 0)
    assert [f"0.{int(v.split('.')[1]) + 15}" for v in promised] == vision


def test_the_doctor_admits_the_pythons_that_the_project_does():
    promised = admitted(SpecifierSet(PROJECT["requires-python"]), 3)
    assert [promised[0], promised[-1]] == [f"{a}.{b}" for a, b in PYTHONS]


@pytest.mark.parametrize("version", ENDS)
def test_both_ends_of_torch_have_what_the_code_uses(version):
    for name, keywords in used().items():
        assert name in ENDS[version], (
            f"{name} is not in tests/pipeline/torch_names.json; with torch {version} installed,"
            " python -m tests.pipeline.torch_names writes it down"
        )
        accepted = ENDS[version][name]
        assert accepted is not None, f"torch {version} has no {name}"
        if "*" not in accepted.split():
            assert keywords <= set(accepted.split()), f"torch {version}: {name}"


def test_what_was_looked_up_is_what_the_installed_torch_has():
    if minor() not in ENDS:
        pytest.skip(f"torch {minor()} is no end of the range")
    differ = {n: arguments(n) for n, accepts in ENDS[minor()].items() if arguments(n) != accepts}
    assert not differ, "python -m tests.pipeline.torch_names, with both ends"


@pytest.mark.parametrize("version", ENDS)
def test_the_launcher_is_configured_with_what_each_end_knows(version, monkeypatch):
    """By a stand-in with the very fields of that version's own."""
    name = "torch.distributed.launcher.api.LaunchConfig"
    known = (ENDS[version][name] or "").split()
    of_that_version = make_dataclass("LaunchConfig", [(f, Any, field(default=None)) for f in known])
    monkeypatch.setattr(launch, "LaunchConfig", of_that_version)
    params = DistributedParams(nnodes=1, rdzv_endpoint="127.0.0.1:0", timeout_s=60)
    config = launch._config("run", 2, params, Path("folder"))
    assert (config.nproc_per_node, config.local_addr) == (2, "127.0.0.1")
    optional = NOT_AT_BOTH[name]
    assert {n for n in optional if getattr(config, n, None)} == optional & set(known)


SPELLINGS = """
import torch
import torch.distributed as dist
from torch.distributed.launcher.api import LaunchConfig as Config
import torch._dynamo
def f():
    from torch.nn.parallel import DistributedDataParallel
    DistributedDataParallel(net, static_graph=True, **more)
    torch._dynamo.config.patch(recompile_limit=64)
    torch._dynamo.config.cache_size_limit = 1
    torch.cuda.Stream(d)._private.thing
    dist.new_group(ranks, timeout=1).size()
    torch.stack(x, dim=1), other._private
"""


def test_a_name_is_found_however_it_is_spelled():
    found: dict[str, set[str]] = {}
    for name, keywords in names(ast.parse(SPELLINGS)):
        if torch_names.is_unstable(name):
            found.setdefault(name, set()).update(keywords)
    assert found == {
        "torch.distributed.launcher.api.LaunchConfig": set(),
        "torch.nn.parallel.DistributedDataParallel": {"static_graph"},
        "torch._dynamo.config.patch": set(),
        "torch._dynamo.config.recompile_limit": set(),
        "torch._dynamo.config.cache_size_limit": set(),
        "torch.distributed.new_group": {"timeout"},
    }
    assert arguments("torch.distributed.no_such_name") is None
    assert arguments("torch._no_module.name") is None
