"""The folder in which torch's compilers keep what they build."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CACHES = ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR")


@contextmanager
def empty_compiler_cache() -> Iterator[Path]:
    """A folder for what torch's compilers keep, empty at first and gone at the end.

    This process and its children share it: the first to build a form pays for it, as on a first
    run. They compile in their own process, so that no pool of compilers runs beside what is timed.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        changed = dict.fromkeys(CACHES, folder) | {"TORCHINDUCTOR_COMPILE_THREADS": "1"}
        before = {name: os.environ.get(name) for name in changed}
        os.environ.update(changed)
        try:
            yield Path(folder)
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})


def compiler_cache() -> Path:
    """The folder of `empty_compiler_cache`, in a process started within it."""
    return Path(os.environ[CACHES[0]])
