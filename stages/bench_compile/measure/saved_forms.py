"""The compiled forms that can be saved, loaded again in a new process (section 13.1).

The new process runs this file: `python -m stages.bench_compile.measure.saved_forms FOLDER DEVICE`.
"""

import json
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from lab.machine.devices import Devices
from lab.results.measurements import Measurement, skip
from stages.bench_compile.measure.compiled_forms import FILES, Form, batches, exported, mlp, script
from stages.bench_compile.measure.names import (
    AOT,
    EXPORT,
    SAVED_DIFFERENCE,
    SAVED_LOAD,
    SAVED_SIZE,
    SCRIPT,
    WEIGHTS,
)

LOADS = 5
EXAMPLE = "example.pt"

Loaded = dict[str, Any]  # bytes, load_s, difference; or a problem


def measure_saved(net: nn.Module, seed: int, devices: Devices, folder: Path) -> list[Measurement]:
    """Load every form saved in `folder` anew: its size, time to load, difference from eager."""
    [X] = batches([64], seed, devices.devices[0]).values()
    save(net, X, folder)
    loaded = load_in_a_new_process(folder, devices.devices[0])
    measured: list[Measurement] = []
    for variant in FILES:
        found = loaded.get(variant, {"problem": "nothing was saved"})
        if "problem" in found:
            measured.append(skip(SAVED_LOAD, variant, found["problem"], devices.kind))
            continue
        load_ms = tuple(1e3 * t for t in found["load_s"])
        measured += [
            Measurement(SAVED_SIZE, variant, 0, (found["bytes"] / 1024,), "KiB", devices.kind),
            Measurement(SAVED_LOAD, variant, 0, load_ms, "ms", devices.kind),
            Measurement(
                SAVED_DIFFERENCE, variant, 0, (found["difference"],), "logit", devices.kind
            ),
        ]
    return measured


def save(net: nn.Module, X: Tensor, folder: Path) -> None:
    """Save weights, TorchScript and export, and an input with eager's output to compare with.

    AOTInductor's package is saved where it is built.
    """
    torch.save(net.state_dict(), folder / FILES[WEIGHTS])
    script(net).save(str(folder / FILES[SCRIPT]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of torch.export's own code
        torch.export.save(exported(net), folder / FILES[EXPORT])
    with torch.inference_mode():
        torch.save({"X": X.cpu(), "y": net(X).cpu()}, folder / EXAMPLE)


def load_in_a_new_process(folder: Path, device: torch.device) -> dict[str, Loaded]:
    """What `load_all` finds in a new process."""
    command = [
        sys.executable,
        "-m",
        "stages.bench_compile.measure.saved_forms",
        str(folder),
        str(device),
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if result.returncode:
        raise RuntimeError(f"loading the saved forms in a new process failed:\n{result.stderr}")
    found: dict[str, Loaded] = json.loads(result.stdout.splitlines()[-1])
    return found


def load_all(folder: Path, device: torch.device) -> dict[str, Loaded]:
    """Load each form that is saved: its bytes, seconds and difference from eager, or a problem."""
    example = torch.load(folder / EXAMPLE, weights_only=True)  # noqa: TID251  (our own)
    X, found = example["X"].to(device), {}
    for variant, file in FILES.items():
        path = folder / file
        if not path.exists():
            continue
        try:
            found[variant] = {
                "bytes": path.stat().st_size,
                **_timed(variant, path, X, example["y"]),
            }
        except Exception as error:  # whatever a form does not manage in a new process
            found[variant] = {"problem": f"does not load in a new process ({type(error).__name__})"}
    return found


def _timed(variant: str, path: Path, X: Tensor, y: Tensor) -> Loaded:
    seconds = []
    for _ in range(LOADS):
        start = time.perf_counter()
        form = _load(variant, path, X.device)
        seconds.append(time.perf_counter() - start)
    return {"load_s": seconds, "difference": _difference(form, X, y)}


@torch.inference_mode()
def _difference(form: Form, X: Tensor, y: Tensor) -> float:
    """The largest difference of a logit from `y`, which is on the processor."""
    return (form(X).cpu() - y).abs().max().item()


def _load(variant: str, path: Path, device: torch.device) -> Form:
    if variant == SCRIPT:
        form: Form = torch.jit.load(str(path), map_location=device)
        return form
    if variant == EXPORT:
        return torch.export.load(path).module()
    if variant == AOT:
        return torch._inductor.aoti_load_package(str(path))
    net = mlp(0).to(device)
    weights = torch.load(path, weights_only=True, map_location=device)  # noqa: TID251
    net.load_state_dict(weights)
    return net


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(load_all(Path(sys.argv[1]), torch.device(sys.argv[2]))))
