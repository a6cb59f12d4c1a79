"""The arms of a race, each in a process of its own: `python -m stages.bench_training.arm_process`.

ARMS is a JSON list of TrainingArm. The first process imports torch and forks the others before it
computes anything, so that ten arms start nearly as fast as one, and each has its own memory,
threads and loaders. A line `NUMBER STEPS` has that arm take a turn of so many steps; the answer is
a line with the seconds that one step took.
"""

import json
import logging
import multiprocessing
import os
import sys
from multiprocessing.connection import Connection

from lab.machine import child
from stages.bench_training.arm_turns import TrainingArm, train_set, turn_of

# macOS's own libraries do not survive a fork
LINUX = sys.platform == "linux"


def main() -> None:
    """Start the arms on the command line and pass on the turns that standard input asks for."""
    # what each of several arms would load for itself
    from lab.data import loaders  # noqa: F401

    train_set()
    context = multiprocessing.get_context("fork") if LINUX else multiprocessing.get_context("spawn")
    links, processes = [], []
    for arm in json.loads(sys.argv[1]):
        link, its = context.Pipe()
        process = context.Process(target=_serve, args=(TrainingArm(**arm), its, os.getpid()))
        process.start()
        its.close()  # or the arm's end would not be noticed
        links.append(link)
        processes.append(process)
    try:
        for line in sys.stdin:
            number, steps = (int(word) for word in line.split())
            links[number].send(steps)
            print(links[number].recv(), flush=True)
    except (EOFError, OSError):
        raise SystemExit(1) from None  # the arm has said why
    finally:
        for process in processes:
            process.kill()


def _serve(arm: TrainingArm, link: Connection, launcher: int) -> None:
    """Be an arm for as long as `launcher` lives: answer numbers of steps with seconds per step."""
    child.follow(launcher)
    os.dup2(2, 1)  # the answers' channel is not for what libraries say
    logging.disable(logging.WARNING)
    if arm.kind == "lightning":
        from stages.bench_training.lightning_arm import serve_lightning  # its package is optional

        serve_lightning(arm, link)
        return
    steps = link.recv()  # before it is asked it leaves the processor to the others
    turn = turn_of(arm)
    while True:
        link.send(turn(steps))
        steps = link.recv()


if __name__ == "__main__":
    main()
