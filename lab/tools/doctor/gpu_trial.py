"""Whether each GPU computes, and copies between them arrive; a line of JSON for each step.

`python -m` this, in a process of its own: a broken driver hangs or crashes. Each step says first
what it does, so that the last line tells at what a process ended.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import permutations

import torch

from lab.core.errors import LabError
from lab.machine.gpus.errors import gpu_errors

Step = dict[str, str | int]
COPIED_BYTES = 2**24
SIDE = 512


def trial(devices: Sequence[torch.device]) -> Iterator[Step]:
    """What each device, and then each pair of those that compute, is about to do, and has done."""
    well = []
    for device in devices:
        yield {"doing": f"computing on {device}"}
        step = _attempt(str(device), partial(computed, device))
        yield step
        well += [device] if "compute" in step else []
    for source, target in permutations(well, 2):
        yield {"doing": f"copying from {source} to {target}"}
        yield _attempt(f"{source} to {target}", partial(copied, source, target))


def _attempt(where: str, attempt: Callable[[], Step]) -> Step:
    try:
        with gpu_errors(where):
            return attempt()
    except LabError as error:
        return {"failure": str(error), "exit_code": error.exit_code}


def computed(device: torch.device) -> Step:
    """Multiply on a device, and wait for it."""
    X = torch.rand(SIDE, SIDE, device=device)
    (X @ X).sum().item()
    return {"compute": str(device)}


def copied(source: torch.device, target: torch.device) -> Step:
    """How many bytes come out wrong that are copied from a device to another, over others."""
    sent = torch.randint(0, 256, (COPIED_BYTES,), dtype=torch.uint8)
    arrived = (~sent).to(target)
    arrived.copy_(sent.to(source))
    wrong = int((arrived.cpu() != sent).sum())
    return {"source": str(source), "target": str(target), "wrong": wrong}


def main() -> None:
    """Try all GPUs that torch can use."""
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    for step in trial([torch.device("cuda", i) for i in range(count)]):
        print(json.dumps(step), flush=True)


if __name__ == "__main__":
    main()
