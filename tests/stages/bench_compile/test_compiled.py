import os
from pathlib import Path

import pytest
import torch

from stages.bench_compile import compiled
from stages.bench_compile.compiled import (
    BUILDERS,
    SAVED,
    build,
    empty_compiler_cache,
    mlp,
    obstacle,
    reload,
)

CPU = torch.device("cpu")


def test_the_mlp_is_the_notes_and_a_seed_decides_it():
    state = torch.get_rng_state()
    first, again, other = mlp(1), mlp(1), mlp(2)
    assert torch.equal(torch.get_rng_state(), state), "nobody else's random numbers change"
    assert [tuple(p.shape) for p in first.parameters()] == [
        (256, 512),
        (256,),
        (128, 256),
        (128,),
        (2, 128),
        (2,),
    ]
    assert all(
        torch.equal(a, b) for a, b in zip(first.parameters(), again.parameters(), strict=True)
    )
    assert not torch.equal(first[0].weight, other[0].weight)


@pytest.mark.parametrize("name", [name for name in BUILDERS if name not in compiled.NEED_COMPILER])
def test_a_form_computes_what_eager_does(name, tmp_path):
    net, X = mlp(0), torch.randn(5, 512)
    form, seconds, reason = build(name, net, tmp_path)
    assert not reason
    assert seconds >= 0
    torch.testing.assert_close(form(X), net(X))
    assert form(X).requires_grad == (name in (compiled.EAGER, compiled.SCRIPT))


def test_saved_forms_give_the_same_in_a_new_process(tmp_path):
    net, X = mlp(0), torch.randn(5, 512)
    for name in (compiled.SCRIPT, compiled.EXPORT):
        build(name, net, tmp_path)
    compiled.save_weights_and_example(net, X, tmp_path)
    found = reload(tmp_path, "cpu")
    assert set(found) == set(SAVED) - {compiled.AOT}, "what was not built is not found"
    for form in found.values():
        assert form["difference"] <= 1e-5
        assert form["bytes"] > 4 * 164_000, "all parameters are in the file"
        assert len(form["load_s"]) == compiled.LOADS


def test_a_changed_file_is_noticed(tmp_path):
    net = mlp(0)
    compiled.save_weights_and_example(net, torch.randn(5, 512), tmp_path)
    torch.save(mlp(1).state_dict(), tmp_path / "weights.pt")
    assert reload(tmp_path, "cpu")["weights alone"]["difference"] > 1e-2


def test_a_damaged_file_is_said_and_the_others_still_count(tmp_path):
    net = mlp(0)
    build(compiled.EXPORT, net, tmp_path)
    compiled.save_weights_and_example(net, torch.randn(5, 512), tmp_path)
    (tmp_path / "export.pt2").write_bytes(b"nonsense")
    found = reload(tmp_path, "cpu")
    assert found[compiled.EXPORT]["problem"].startswith("does not load in a new process (")
    assert found["weights alone"]["difference"] == 0


def test_what_a_machine_lacks_is_said(monkeypatch, tmp_path):
    assert obstacle(compiled.GRAPH, CPU) == "needs a CUDA GPU"
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert obstacle(compiled.AOT, CPU) == "needs a C++ compiler (no-such-compiler is not on PATH)"
    assert obstacle(compiled.EXPORT, CPU) == ""
    assert build(compiled.COMPILE, mlp(0), tmp_path)[0] is None


def test_a_compiler_that_fails_is_no_crash(monkeypatch, tmp_path):
    def broken(net, folder):
        raise RuntimeError("cannot compile")

    monkeypatch.setitem(compiled.BUILDERS, compiled.EXPORT, broken)
    assert build(compiled.EXPORT, mlp(0), tmp_path) == (
        None,
        0.0,
        "does not build here (RuntimeError)",
    )


def test_compilers_start_from_nothing_and_leave_nothing(monkeypatch):
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", "mine")
    monkeypatch.delenv("TRITON_CACHE_DIR", raising=False)
    with empty_compiler_cache():
        folder = Path(os.environ["TORCHINDUCTOR_CACHE_DIR"])
        assert list(folder.iterdir()) == []
    assert not folder.exists()
    assert os.environ["TORCHINDUCTOR_CACHE_DIR"] == "mine"
    assert "TRITON_CACHE_DIR" not in os.environ
