"""Does the suite see what it looks for? Defects are planted in a copy, and its trials must tell."""

import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.faults import tiny_project
from tests.faults.processes import stage
from tests.faults.trials import Outcome, Trials


@dataclass(frozen=True)
class Planted:
    """A defect: `new` instead of `old` in a file, and the trial that must see it."""

    name: str
    file: str
    old: str
    new: str
    trial: Callable[[Trials], Outcome]


IN_A_STEP = "step rank 0:2=sleep"  # or it would be done before it is missed
DEFECTS = (
    Planted(
        "a file is written in place",
        "lab/core/files.py",
        'with part.open("wb") as file:\n',
        'part = path\n        with part.open("wb", buffering=0) as file:\n'
        "            file.write(content[: len(content) // 2])\n"
        '            fail_points.reach("half", path)\n            file.seek(0)\n',
        lambda trials: trials.kill_a_run_at("one", "half *metrics.json", 1),
    ),
    Planted(
        "ranks do not follow their launcher",
        "lab/machine/child.py",
        "    follow(int(os.environ[LAUNCHER_VARIABLE]))\n",
        "",
        lambda trials: trials.kill_below(
            stage("stages.train", "by_ddp"), "rank", "stage", LAB_FAIL_POINT=IN_A_STEP
        ),
    ),
    Planted(
        "a stage does not follow DVC",
        "lab/core/signals.py",
        "any(gone() for gone in launchers)",
        "False",
        lambda trials: trials.kill_below(
            [*stage("dvc"), "repro", "-sf", "train@one"],
            "stage",
            "dvc",
            wait_s=1,
            LAB_FAIL_POINT=IN_A_STEP,
        ),
    ),
    Planted(
        "a run goes on with fresh weights",
        "stages/train/measure/one_run.py",
        "        strategy.load_state(state)\n",
        "",
        lambda trials: trials.kill_a_run_at("one", "step rank 0", 30),
    ),
    Planted(
        "Ctrl-C is a traceback",
        "stages/__init__.py",
        "    from_the_start()\n",
        "    signal.signal(signal.SIGINT, signal.default_int_handler)\n",
        lambda trials: min(
            (
                trials.signal_at(stage("stages.train", "one"), signal.SIGINT, s)
                for s in (0.6, 1.5, 4)
            ),
            key=lambda outcome: outcome.survived,
        ),
    ),
)


def undetected(trials: Trials) -> Iterator[str]:
    """The planted defects that no trial saw."""
    for defect in DEFECTS:
        path = trials.folder / defect.file
        text = path.read_text()
        assert defect.old in text, f"{defect.name}: {defect.file} no longer has {defect.old!r}"
        path.write_text(text.replace(defect.old, defect.new))
        outcome = defect.trial(trials)
        path.write_text(text)
        tiny_project.forget_results(trials.folder)
        if outcome.survived:
            yield defect.name
