"""Try many inputs on all that reads files, and print what became of them.

`python -m tests.faults.fuzz --seconds 600`: each target gets its share of the time; those that read
bytes are tried with atheris, too, where that can be imported. Exit code 1 if an input was neither
accepted nor refused in words that say what to do: the first of each kind is in `.lab/fuzz/`.
"""

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path

from tqdm import tqdm

HEADER = ("target", "inputs", "refused", "accepted", "unclear", "inputs/s")


def main() -> int:
    """Try them."""
    # here, and not in the processes that a worker is started from
    from lab.tools.compare import aligned
    from tests.faults.fuzz.campaign import Tally, try_target
    from tests.faults.fuzz.targets import TARGETS

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600, help="in all")
    parser.add_argument("--inputs", type=int, default=10**9, help="at most, in all")
    parser.add_argument("--target", choices=list(TARGETS), action="append", help="only this one")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=Path(".lab/fuzz"), help="findings' folder")
    arguments = parser.parse_args()
    names = arguments.target or list(TARGETS)
    engines = (False, True) if find_spec("atheris") else (False,)
    jobs = [(name, guided) for name in names for guided in engines[: 1 + TARGETS[name].reads_bytes]]
    whole = sum(TARGETS[name].share for name, _ in jobs)
    tallies = []
    with tqdm(unit=" inputs", smoothing=0) as bar:
        for name, guided in jobs:
            part = TARGETS[name].share / whole
            bar.set_description(name)
            limits = (arguments.seconds * part, max(1, round(arguments.inputs * part)))
            tallies.append(
                try_target(name, guided, arguments.seed, *limits, arguments.keep.resolve(), bar)
            )
    total = Tally("all")
    for tally in tallies:
        total.add(
            (tally.inputs, tally.refused, tally.accepted, tally.unclear, int(tally.seconds * 1000))
        )
    print("\n".join(aligned([HEADER, *(tally.cells() for tally in (*tallies, total))])))
    return 1 if total.unclear else 0


if __name__ == "__main__":
    sys.exit(main())
