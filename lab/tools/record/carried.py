"""What a machine that has torch, torchvision and numpy lacks for a record, and how it gets there.

This file and `__main__` start on such a machine: they import nothing else that is not Python's own.
"""

import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "carried"  # packages that `invoke pack` put beside the code
# what the recorded stages import, by the names on PyPI, which are those in Python, too
PACKAGES = (
    *("filelock", "pooch", "psutil", "pydantic", "requests", "ruamel.yaml"),
    *("tabulate", "threadpoolctl", "tqdm"),
)
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


def use() -> None:
    """Have this process find what was carried, before what lies in its environment."""
    if FOLDER.is_dir():
        sys.path.insert(0, str(FOLDER))


def lacking(packages: Iterable[str] = PACKAGES) -> list[str]:
    """Those that do not import: they are not there, or were built for another Python."""
    return [name for name in packages if not _imports(name)]


def _imports(name: str) -> bool:
    try:
        import_module(name)
    except ImportError:
        return False
    return True


def remedy(names: Iterable[str]) -> str:
    """The line that says what is lacking, and what to do."""
    return (
        f"Python {PYTHON} here lacks {', '.join(names)}; where the lab is installed `invoke pack"
        f" --python {PYTHON}` makes one file of them, the code and the data, to carry here"
    )
