"""The packages that a machine with torch, torchvision and numpy lacks for a record.

This file and `__main__` start on such a machine, so they import only the standard library.
"""

import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "carried"  # packages that `invoke pack` put next to the code
# what the recorded stages import; the names on PyPI and in Python are the same
PACKAGES = (
    *("filelock", "pooch", "psutil", "pydantic", "requests", "ruamel.yaml"),
    *("tabulate", "threadpoolctl", "tqdm"),
)
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


def use() -> None:
    """Let this process import the carried packages in preference to installed ones."""
    if FOLDER.is_dir():
        sys.path.insert(0, str(FOLDER))


def lacking(packages: Iterable[str] = PACKAGES) -> list[str]:
    """Return the packages that fail to import: missing, or built for a different Python."""
    return [name for name in packages if not _imports(name)]


def _imports(name: str) -> bool:
    try:
        import_module(name)
    except ImportError:
        return False
    return True


def remedy(names: Iterable[str]) -> str:
    """Return a line that says what is missing and what to do."""
    return (
        f"Python {PYTHON} here lacks {', '.join(names)}; where the lab is installed `invoke pack"
        f" --python {PYTHON}` makes one file of them, the code and the data, to carry here"
    )
