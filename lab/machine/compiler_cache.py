"""The cache folder of torch's compilers."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CACHES = ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR")


@contextmanager
def empty_compiler_cache() -> Iterator[Path]:
    """Provide torch's compilers with an empty cache folder, and delete it at the end.

    This process and its children share it: the first to compile something pays for it, as on a
    first run. Each compiles in its own process, so that no pool of compilers disturbs timings.
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
    """Return the folder of `empty_compiler_cache`, in a process started within its context."""
    return Path(os.environ[CACHES[0]])
