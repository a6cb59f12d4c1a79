import os
from pathlib import Path

import torch

from stages.bench_compile import compiled_forms, names
from stages.bench_compile.compiled_forms import (
    BUILDERS,
    NEED_COMPILER,
    build,
    empty_compiler_cache,
    mlp,
    obstacle,
)

CPU = torch.device("cpu")


def test_the_mlp_is_the_notes_and_a_seed_decides_it():
    state = torch.get_rng_state()
    first, again, other = mlp(1), mlp(1), mlp(2)
    assert torch.equal(torch.get_rng_state(), state), "nobody else's random numbers change"
    shapes = [tuple(p.shape) for p in first.parameters()]
    assert shapes == [(256, 512), (256,), (128, 256), (128,), (2, 128), (2,)]
    assert all(
        torch.equal(a, b) for a, b in zip(first.parameters(), again.parameters(), strict=True)
    )
    assert not torch.equal(first[0].weight, other[0].weight)


def test_a_form_computes_what_eager_does(tmp_path):
    net, X = mlp(0), torch.randn(5, 512)
    y = net(X)
    for form_name in BUILDERS:
        if form_name in NEED_COMPILER:
            continue
        form, seconds, reason = build(form_name, net, tmp_path)
        assert not reason, form_name
        assert seconds >= 0
        outputs = form(X)
        torch.testing.assert_close(outputs, y, msg=lambda m, f=form_name: f"{f}: {m}")
        with_gradients = form_name in (names.EAGER, names.SCRIPT)
        assert outputs.requires_grad == with_gradients, form_name


def test_what_a_machine_lacks_is_said(monkeypatch, tmp_path):
    assert obstacle(names.GRAPH, CPU) == "needs a CUDA GPU"
    monkeypatch.setenv("CXX", "no-such-compiler")
    reason = "needs a C++ compiler (no-such-compiler is not on PATH)"
    assert obstacle(names.AOT, CPU) == reason
    assert obstacle(names.EXPORT, CPU) == ""
    assert build(names.COMPILE, mlp(0), tmp_path) == (None, 0.0, reason)


def test_a_compiler_that_fails_is_no_crash(monkeypatch, tmp_path):
    def broken(net, folder):
        raise RuntimeError("cannot compile")

    monkeypatch.setitem(compiled_forms.BUILDERS, names.EXPORT, broken)
    reason = "does not build here (RuntimeError)"
    assert build(names.EXPORT, mlp(0), tmp_path) == (None, 0.0, reason)


def test_compilers_start_from_nothing_and_leave_nothing(monkeypatch):
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", "mine")
    monkeypatch.delenv("TRITON_CACHE_DIR", raising=False)
    with empty_compiler_cache():
        folder = Path(os.environ["TORCHINDUCTOR_CACHE_DIR"])
        assert list(folder.iterdir()) == []
    assert not folder.exists()
    assert os.environ["TORCHINDUCTOR_CACHE_DIR"] == "mine"
    assert "TRITON_CACHE_DIR" not in os.environ
