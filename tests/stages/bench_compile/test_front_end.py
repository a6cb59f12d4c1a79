import subprocess

import torch

from lab.machine.devices import Devices
from stages.bench_compile.measure import front_end, names
from stages.bench_compile.measure.compiled_forms import NUM_INPUTS, mlp
from stages.bench_compile.measure.front_end import measure_front_end

CPU = Devices("cpu-virtual", [torch.device("cpu")], 1)


def test_the_programs_logits_are_compared_with_eagers(monkeypatch, tmp_path):
    """A stand-in for the C++ program, whose compilation takes long: it prints other logits."""
    net = mlp(0)
    with torch.no_grad():
        first, second = net(torch.ones(1, NUM_INPUTS)).flatten().tolist()
    program = tmp_path / "program"
    program.write_text(f'#!/bin/sh\ntest -s "$1" && echo "{first} {second + 0.5} "\n')
    program.chmod(0o755)
    monkeypatch.setattr(front_end, "_compiled", lambda folder: program)
    monkeypatch.setattr(front_end, "missing_compiler", lambda: "")
    found = measure_front_end(net, True, CPU, tmp_path)
    assert abs(found.values[0] - 0.5) < 1e-5


def test_what_keeps_it_from_running_is_said(monkeypatch, tmp_path):
    def fails(folder):
        raise subprocess.CalledProcessError(1, ["c++"])

    net = mlp(0)
    assert "bench_compile.compilers" in measure_front_end(net, False, CPU, tmp_path).remark
    monkeypatch.setattr(front_end, "missing_compiler", lambda: "a C++ compiler")
    assert measure_front_end(net, True, CPU, tmp_path).remark == "skipped: needs a C++ compiler"
    monkeypatch.setattr(front_end, "missing_compiler", lambda: "")
    monkeypatch.setattr(front_end, "_compiled", fails)
    found = measure_front_end(net, True, CPU, tmp_path)
    assert found.remark == "skipped: does not build or run here (CalledProcessError)"
    assert (found.demo, found.arm) == (names.FRONT_END, names.CPP)
