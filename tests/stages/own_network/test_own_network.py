"""What own_network chooses, the lines that it gives, and what it says of a file that is wrong."""

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from lab.core.errors import DataError, DivergedError, LabError, ParamsError, SpaceError
from lab.core.params import load
from lab.machine.devices import processor
from lab.machine.fresh_process import call_in_subprocess
from lab.report.code import body_of
from lab.results.measurements import Measurement, Results, again
from stages.own_network import __main__ as own_network
from stages.own_network.__main__ import Race, alternate
from stages.own_network.findings import (
    chosen,
    differs,
    findings,
    helps,
    promises,
    same,
    seeds_differ,
)
from stages.own_network.measure import names
from stages.own_network.measure.names import ALONE, BASELINE, OPPONENT, identifier
from stages.own_network.measure.params import Params
from stages.own_network.measure.techniques import TECHNIQUES
from stages.own_network.measure.training import TURN, Plan, Trial, Variant, trial, turn
from tests import made_up
from tests.helpers import ROOT
from tests.made_up import one
from tests.stages.own_network.made_up import SEEDS_DIFFER

CPU = torch.device("cpu")


def results(ms: dict[str, float] | None = None, **losses: float) -> Results:
    """The made-up ones, with other times of techniques, or losses further from the baseline's."""
    made = made_up.measurements("own_network", "cuda")
    for name, each in (ms or {}).items():
        made = [m for m in made if (m.experiment, m.variant) != (ALONE, name)]
        made.append(one(ALONE, name, each, "cuda", 64))
    return Results(made, {names.BATCH_SIZE: 64})


def test_the_fastest_that_help_and_keep_the_training_are_chosen():
    assert chosen(results()) == [names.COMPILE, names.TWO_DEVICES, names.BF16, names.TF32]


def test_of_two_that_take_each_others_place_the_faster_one_is_chosen():
    found = chosen(results({names.GRAPH: 11.0, names.WORKERS: 15.0, names.IN_MEMORY: 14.0}))
    assert names.GRAPH in found and names.COMPILE not in found
    assert names.IN_MEMORY in found and names.WORKERS not in found


def test_no_gain_is_one_that_the_noise_control_has_as_well():
    """Nor one of less than two percent."""
    assert not helps(results({names.BF16: 18.0, again(BASELINE): 17.0}), names.BF16)
    assert helps(results({names.BF16: 16.0, again(BASELINE): 17.0}), names.BF16)
    assert not helps(results({names.BF16: 19.7}), names.BF16)
    assert not helps(results(), again(BASELINE))


@pytest.mark.parametrize(
    ("own", "promising"),
    [
        ((9.5, 9.7, 9.5, 9.4), True),  # once less than the control's best, 10 / 9.59
        ((9.5, 9.6, 9.7, 9.7), False),  # its median is less
        ((9.0, 9.0, 9.0, 9.85), False),  # once less than two percent
        ((9.0, 8.0, 9.0), False),  # of three, one in 20 would by chance
        ((9.85, 9.85, 9.85, 9.85), False),  # less than two percent
    ],
)
def test_a_technique_promises_a_gain_if_it_gains_each_time_and_typically_more_than_the_control(
    own, promising
):
    control = (9.59, 10.0, 10.4, 10.1) if min(own) < 9.7 else (10.0,) * 4
    ms = {
        (ALONE, BASELINE): 10.0,
        (ALONE, again(BASELINE)): control,
        (OPPONENT, names.FUSED): 10.0,
        (ALONE, names.FUSED): own,
    }
    rows = [
        Measurement(*which, 64, each if isinstance(each, tuple) else (each,) * len(own), "ms")
        for which, each in ms.items()
    ]
    rows = [replace(row, values=row.values[: len(own)]) for row in rows]
    assert promises(Results(rows), names.FUSED) == promising


def test_losses_further_off_than_seeds_are_another_training():
    """Seeds i and j differ by |i - j| steps; the median of the 66 pairs of 12 seeds is 4."""
    found = results({names.FUSED: 5.0})
    assert seeds_differ(found).value == pytest.approx(4 * SEEDS_DIFFER)
    assert differs(found, names.FUSED).value == pytest.approx(0.5)
    assert helps(found, names.FUSED) and not same(found, names.FUSED)
    assert names.FUSED not in chosen(found)
    broken = [
        replace(m, values=(float("nan"), *m.values[1:])) if m.variant == names.BF16 else m
        for m in found.measurements
        if (m.experiment, m.variant) != (ALONE, names.BF16)
    ]
    assert not same(Results(broken), names.BF16)


def test_the_table_says_what_trains_otherwise():
    """The optimizer's losses are further off than seeds', and a larger batch takes fewer steps."""
    techniques = (names.BF16, names.FUSED, names.LARGER_BATCH)
    assert [own_network.kept(results(), name) for name in techniques] == ["yes", "no", "no"]


def test_the_table_has_the_first_step_of_each_technique():
    lines = own_network.table(results()).splitlines()
    for name, seconds in {names.COMPILE: 15, names.BF16: 0.1}.items():
        [line] = [line for line in lines if line.startswith(name)]
        assert float(line.split()[-2]) == pytest.approx(seconds, rel=0.1)


def test_a_larger_batch_is_shown_and_never_chosen():
    assert helps(results(), names.LARGER_BATCH)
    assert names.LARGER_BATCH not in chosen(results())


def test_nothing_that_helps_is_an_answer():
    slow = dict.fromkeys(names.TECHNIQUES, 20.0)
    assert chosen(results(slow)) == []


def test_turns_begin_with_each_of_two_variants_alternately():
    asked = []

    class Logged:
        def __init__(self, name: str) -> None:
            self.name = name

        def ask(self, what: str = "") -> list[float]:
            asked.append((self.name, what))
            return [1.0]

    alternate(Logged("baseline"), Logged("tried"))
    turns = [name for name, what in asked if what == TURN]
    assert turns[::2] == ["tried", "baseline", "tried", "baseline", "tried", "baseline", "tried"]
    assert turns[1::2] == [{"tried": "baseline", "baseline": "tried"}[each] for each in turns[::2]]


@pytest.mark.parametrize(
    ("batch_size", "ranks", "seconds"), [(64, 1, 5), (32, 2, 5), (256, 1, 1.25)]
)
def test_a_turns_time_is_for_the_examples_of_the_files_batch(
    monkeypatch, batch_size, ranks, seconds
):
    """Two steps take ten seconds; of two ranks each has half of the examples."""
    clock = iter([0, 10])
    monkeypatch.setattr(
        "stages.own_network.measure.training.read_clock", lambda devices: next(clock)
    )
    trained = SimpleNamespace(
        **{"batches": lambda: (each for each in ()), "step": lambda batches: None, "loader": None},
        **{"device": CPU, "batch_size": batch_size, "ranks": ranks},
        network=SimpleNamespace(BATCH_SIZE=64),
    )
    assert turn(trained, 2) == seconds


def test_what_helps_is_combined_and_judged_in_starts_that_did_not_choose_it(monkeypatch):
    raced = []

    def race(variants: Mapping[str, Variant], starts: range, *given: object) -> Race:
        raced.append((set(variants), set(starts)))
        return Race({})

    monkeypatch.setattr(own_network, "race", race)
    monkeypatch.setattr(own_network, "in_rows", lambda *given: [])
    monkeypatch.setattr(own_network, "call_in_subprocess", lambda *given: Trial(1.0, 64, 10, {}))
    monkeypatch.setattr(own_network.findings, "chosen", lambda results: [names.FUSED])
    params = load(Params, ROOT / "params.yaml")
    own_network.measure_all(params, processor(1))
    (_, choosing), (combined, judging) = raced
    assert combined == {names.ALL}
    assert not choosing & judging
    assert len(judging) == params.own_network.starts


def test_numbers_by_hand():
    """Of a step of 1 + 20 ms, 4 in calls, with 1 GFLOP at 200 and 0.2 GB at 40 a second."""
    found = findings(results())
    assert found["speedup"].value == 2
    assert found["input_percent"].value == pytest.approx(100 / 21, rel=1e-3)
    assert found["calls_percent"].value == pytest.approx(20, rel=1e-3)
    assert found["of_peak_percent"].value == pytest.approx(25, rel=1e-3)
    assert found["of_bandwidth_percent"].value == pytest.approx(25, rel=1e-3)
    assert found["examples_per_s"].value == pytest.approx(3200, rel=1e-2)
    assert found["builds_s"].value == pytest.approx(15, rel=1e-2)
    assert found["pays_after"].value == pytest.approx(15 / 7.5e-3, rel=1e-2)


NET = """
import torch
from torch import nn
def make_net():
    return nn.Linear(4, 2)
def make_batch(batch_size, generator):
    return torch.randn(batch_size, 4, generator=generator), torch.zeros(batch_size).long()
"""
WRONG: dict[str, tuple[str, type[LabError], str]] = {  # what is added, the error, and its words
    "no make_net": ("del make_net", ParamsError, "mine.py: no function make_net; "),
    "no function": ("make_loader = 3", ParamsError, "mine.py: make_loader is no function; "),
    "no size": ("BATCH_SIZE = 0", ParamsError, "mine.py: BATCH_SIZE is 0, expected "),
    "syntax": ("def", ParamsError, "mine.py, line 8: import: SyntaxError: "),
    "import": ("import none_such", ParamsError, "mine.py, line 8 (import none_such): import: "),
    "refused": (
        "make_net = lambda: nn.Linear(3, 2)",
        ParamsError,
        "mine.py: net(inputs): RuntimeError: mat1 and mat2 shapes cannot be multiplied (64x4",
    ),
    "own error": (
        "class Net(nn.Linear):\n  def forward(self, X):\n    return X.none\n"
        "make_net = lambda: Net(4, 2)",
        ParamsError,
        "mine.py, line 10 (return X.none): net(inputs): AttributeError: ",
    ),
    "own function": (
        "def inner(X):\n  return X.none\n"
        "class Net(nn.Linear):\n  def forward(self, X):\n    return inner(X)\n"
        "make_net = lambda: Net(4, 2)",
        ParamsError,
        "mine.py, line 9 (return X.none): net(inputs): AttributeError: ",
    ),
    "no scalar": (
        "def loss(outputs, targets): return outputs",
        ParamsError,
        "mine.py: loss(outputs, targets) gives [64, 2], expected a tensor of one number",
    ),
    "NaN": (
        "def loss(outputs, targets): return outputs.mean() * float('nan')",
        DivergedError,
        "mine.py: the first loss is nan; ",
    ),
    "no pair": ("make_batch = lambda n, g: torch.ones(n)", ParamsError, "mine.py: make_batch "),
    "no generator": (
        "def make_batch(batch_size): return 1",
        ParamsError,
        "mine.py: make_batch(batch_size, generator): TypeError: make_batch() takes 1 positional",
    ),
    "data": ("open('none_such')", DataError, "mine.py, line 8 (open('none_such')): import: File"),
    "seeded": (
        "def make_net():\n  torch.manual_seed(0)\n  return nn.Linear(4, 2)\n"
        "make_batch = lambda n, g: (torch.ones(n, 4), torch.zeros(n).long())",
        ParamsError,
        "mine.py: two seeds give the same loss; take out torch.manual_seed",
    ),
    "device": (
        "make_net = lambda: nn.Linear(4, 2, device='meta')",
        ParamsError,
        "mine.py: make_net() moves the net to meta; ",
    ),
    "ended": (
        "make_loader = lambda n: iter([make_batch(n, torch.Generator())] * 2)",
        ParamsError,
        "mine.py: a step: ValueError: make_loader's has ended and cannot begin again",
    ),
    "memory": (
        "def loss(outputs, targets): return torch.ones(1 << 50).sum()",
        SpaceError,
        "try BATCH_SIZE = 32",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_with_a_file_is_one_line(wrong, tmp_path):
    added, kind, words = WRONG[wrong]
    file = tmp_path / "mine.py"
    file.write_text(NET.lstrip("\n") + f"\n{added}\n")
    with pytest.raises(kind) as caught:
        call_in_subprocess("mine.py", trial, CPU, Plan(file), 1, 0)
    said = str(caught.value).replace("RuntimeError: addmm: ", "RuntimeError: ")  # torch 2.15's
    assert words in said and "\n" not in said
    assert type(caught.value) is kind


def test_what_may_differ_in_files_is_all_right(tmp_path):
    """Prints, threads, a seed on import, a loader that begins again, a smaller last batch."""
    file = tmp_path / "mine.py"
    more = """
print("loud")
torch.set_num_threads(7)
torch.manual_seed(3)
BATCH_SIZE = 3
def make_loader(batch_size):
    data = torch.utils.data.TensorDataset(*make_batch(8, torch.Generator()))
    return torch.utils.data.DataLoader(data, batch_size)
"""
    file.write_text(NET + more)
    found = call_in_subprocess("mine.py", trial, CPU, Plan(file), 1, 0)
    assert (found.batch_size, found.parameters) == (3, 10)
    assert names.WORKERS not in found.lacking and names.IN_MEMORY not in found.lacking


SCRIPT = """
import ctypes, torch, sys
import torch.nn.functional as F
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, TensorDataset
sys.path.insert(0, {folder!r})
import words as mine
BATCH_SIZE = batch_size = 32
device = torch.device("cpu")
net = mine.make_net()
optimizer = mine.make_optimizer(net.parameters())
inputs, targets = mine.make_batch(256, torch.Generator())
loader = DataLoader(TensorDataset(inputs["words"], targets[0]), batch_size)
def loss_of(words, targets):
    outputs = net(words, torch.ones(len(words), 1))
    return mine.loss(outputs, (targets,))
{lines}
for words, targets in loader:
    loss = loss_of(words, targets)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
print(loss.item(), *loss.shape)
"""
ELSEWHERE = (names.COMPILE, names.GRAPH, names.TWO_DEVICES)  # than on any processor


@pytest.mark.slow
def test_the_lines_of_all_techniques_run_in_a_readers_script(tmp_path):
    source = (ROOT / "stages/own_network/measure/techniques.py").read_text()
    bodies = [body_of(source, identifier(name)) for name in TECHNIQUES if name not in ELSEWHERE]
    folder = str(ROOT / "tests/stages/own_network/networks")
    script = SCRIPT.format(folder=folder, lines="\n".join(bodies))
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert ended.returncode == 0, ended.stderr
    assert 0 < float(ended.stdout) < 3


def test_every_technique_has_its_function_and_its_name():
    assert (*TECHNIQUES,) == names.SAME_STEPS
    for name, technique in TECHNIQUES.items():
        assert technique.apply.__name__ == identifier(name)
