"""A process that tries inputs on one target; it may hang or crash, so somebody watches it."""

import json
import logging
import os
import random
import resource
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings

from tests.faults.fuzz import project
from tests.faults.fuzz.outcome import Outcome
from tests.faults.fuzz.targets import TARGETS
from tests.faults.fuzz.trial import Input, Trial

KINDS = ("refused", "accepted", "unclear")
BUFFERS = (64, 256, 1024)  # bytes, of which hypothesis makes an input
ADDRESS_SPACE = 3 * 2**30  # more than at the start: a bomb must not take the machine along
INSTRUMENTED = (  # what reads bytes in Python: atheris sees no further
    *(
        "lab.data.idx",
        "lab.data.datasets",
        "lab.data.fetching.download",
        "lab.training.checkpoints",
    ),
    *("lab.tools.classify", "PIL.Image", "PIL.BmpImagePlugin", "PIL.GifImagePlugin"),
    *("PIL.PngImagePlugin", "PIL.JpegImagePlugin", "PIL.WebPImagePlugin", "babel.messages.pofile"),
    *("torch._weights_only_unpickler", "torch.serialization", "gzip"),
)

Try = Callable[[Input], None]


def work(
    name: str, guided: bool, seed: int, seconds: float, most: int, folder: Path, counts: Any
) -> None:
    """Try inputs for so long, or so many, counted in `counts`: inputs, each kind, ms.

    `folder` gets the project; what is tried now (`now`), for whoever finds this process dead; and
    under `findings` the first unclear input of each place.
    """
    logging.disable()
    warnings.simplefilter("ignore")
    sys.dont_write_bytecode = True
    sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115  (for as long as the process lives)
    root = folder / "project"
    if not root.exists():
        root.mkdir()
        project.make(root)
    os.chdir(root)
    tempfile.tempdir = str(root)
    trial = Trial(TARGETS[name])
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + ADDRESS_SPACE, resource.RLIM_INFINITY))
    note = os.open(folder / "now", os.O_CREAT | os.O_RDWR)
    places: set[str] = set()
    started: list[float] = []  # with the first input: what comes before is no matter of rates

    def attempt(tried: Input) -> None:
        if not started:
            started.append(time.monotonic())
        path, content = tried
        os.pwrite(note, f"{path}\n{len(content)}\n".encode() + content, 0)
        found = trial.judge(path, content)
        counts[4] = int(1000 * (time.monotonic() - started[0]))
        counts[0] += 1
        counts[1 + KINDS.index(found.kind)] += 1
        if found.kind == "unclear" and found.place not in places:
            places.add(found.place)
            save(folder / "findings", name, tried, found)

    def over() -> bool:
        return counts[0] >= most or bool(started and time.monotonic() > started[0] + seconds)

    (_guided if guided else _random)(trial, seed, attempt, over)


def _random(trial: Trial, seed: int, attempt: Try, over: Callable[[], bool]) -> None:
    """Inputs that hypothesis makes of random bytes."""

    @settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(trial.inputs())
    def test(tried: Input) -> None:
        attempt(tried)

    rng = random.Random(seed)  # noqa: S311  (inputs, no secrets)
    while not over():
        test.hypothesis.fuzz_one_input(rng.randbytes(rng.choice(BUFFERS)))


def _guided(trial: Trial, seed: int, attempt: Try, over: Callable[[], bool]) -> None:
    """Contents that atheris (libFuzzer) makes, keeping those that reach code not reached before."""
    import atheris

    os.dup2(os.open("../words", os.O_CREAT | os.O_WRONLY), 2)  # what libFuzzer says
    names = list(trial.target.reads)
    for function in _functions():
        atheris.instrument_func(function)

    def test(data: bytes) -> None:
        if over():
            os._exit(0)  # libFuzzer has no other end
        if data:
            attempt((names[data[0] % len(names)], data[1:]))

    corpus = Path("corpus")
    corpus.mkdir(exist_ok=True)
    for n, content in enumerate([*trial.valid.values(), *trial.target.more()]):
        (corpus / str(n)).write_bytes(bytes([n % len(names)]) + content)
    flags = [f"-seed={seed % 2**31 + 1}", "-timeout=0", "-rss_limit_mb=0", "-verbosity=0"]
    atheris.Setup(["fuzz", *flags, "-max_len=20000", str(corpus)], test)
    atheris.Fuzz()


def _functions() -> list[Any]:
    """The functions in Python that read what is tried."""
    found = []
    for name, module in list(sys.modules.items()):
        if name in INSTRUMENTED:
            found += [f for f in vars(module).values() if getattr(f, "__module__", "") == name]
    methods = [
        method for thing in found if isinstance(thing, type) for method in vars(thing).values()
    ]
    return [f for f in (*found, *methods) if hasattr(f, "__code__")]


def save(folder: Path, name: str, tried: Input, found: Outcome) -> None:
    """Keep an input, its target and file, and what became of it."""
    path, content = tried
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{name.replace(' ', '_')}-{len(list(folder.glob('*.json')))}"
    (folder / f"{stem}.content").write_bytes(content)
    said = {"target": name, "file": path, "place": found.place, "words": found.words}
    (folder / f"{stem}.json").write_text(json.dumps(said, indent=2) + "\n")
