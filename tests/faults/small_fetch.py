"""`python -m tests.faults.small_fetch`: the stage `fetch`, for files of a few kilobytes.

They are like the published ones, which are not there where the tests run.
"""

import gzip
import sys
from dataclasses import replace
from pathlib import Path

from lab.core.process import run
from lab.data import idx, synthetic
from lab.data.datasets import sha256
from lab.data.fetching import download
from lab.data.fetching.sources import RemoteFile
from stages.fetch.__main__ import main

AIRFOIL_TEXT = b"800\t0\t0.3\t71.3\t0.002\t126.2\r\n"
COUNTS = {"train": 50, "t10k": 20}


def unpacked() -> dict[str, bytes]:
    """What the files hold, by the names of the packed ones."""
    found = {"airfoil_self_noise.dat": AIRFOIL_TEXT}
    for half, count in COUNTS.items():
        images, labels = synthetic.fashion(count, seed=0)
        found[f"{half}-images-idx3-ubyte.gz"] = idx.encode(images)
        found[f"{half}-labels-idx1-ubyte.gz"] = idx.encode(labels)
    return found


UNPACKED = unpacked()
FILES = {
    name: gzip.compress(content, mtime=0) if name.endswith(".gz") else content
    for name, content in UNPACKED.items()
}


def small(file: RemoteFile) -> RemoteFile:
    """A published file's pin, for the small one."""
    content, packed = UNPACKED[file.name], FILES[file.name]
    return replace(file, size=len(packed), unpacked_size=len(content), sha256=sha256(packed))


FASHION_FILES = tuple(small(file) for file in download.FASHION_FILES)
AIRFOIL = small(download.AIRFOIL)


def write_mirror(folder: Path) -> Path:
    """Write the files as LAB_DATA_MIRROR has them; returns the folder."""
    for file in (*FASHION_FILES, AIRFOIL):
        (folder / file.folder).mkdir(parents=True, exist_ok=True)
        (folder / file.folder / file.name).write_bytes(FILES[file.name])
    return folder


if __name__ == "__main__":
    download.FASHION_FILES, download.AIRFOIL = FASHION_FILES, AIRFOIL
    sys.exit(run(main))
