"""What the code uses of torch that torch may change: names, and the arguments that they take.

`python -m tests.pipeline.torch_names`, with each end of the range that pyproject.toml promises,
writes down what that one has; tests compare the code with both, whichever is installed.
"""

import ast
import importlib
import inspect
import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parents[2]
TABLE = Path(__file__).with_suffix(".json")
# packages whose names are public, but not for long; private ones begin with an underscore
UNSTABLE = (
    *("torch.backends.", "torch.compile", "torch.cuda.CUDAGraph", "torch.cuda.graph"),
    *(
        "torch.cuda.nccl.",
        "torch.distributed.",
        "torch.export.",
        "torch.library.",
        "torch.profiler.",
    ),
    *("torch.nn.parallel.", "torch.nn.DataParallel", "torch.utils.flop_counter."),
)
CONFIG = ("torch._dynamo.config.patch", "torch._inductor.config.patch")  # whose arguments are names


@cache
def used() -> dict[str, set[str]]:
    """Each such name in lab/ and stages/, with the keywords that calls of it give."""
    found: dict[str, set[str]] = {}
    for path in sorted([*(ROOT / "lab").rglob("*.py"), *(ROOT / "stages").rglob("*.py")]):
        for name, keywords in names(ast.parse(path.read_text())):
            if is_unstable(name):
                found.setdefault(name, set()).update(keywords)
    return found


def is_unstable(name: str) -> bool:
    """Whether torch may change it from one release to the next."""
    private = any(part.startswith("_") and not part.startswith("__") for part in name.split("."))
    return private or name.startswith(UNSTABLE)


def names(tree: ast.Module) -> Iterator[tuple[str, set[str]]]:
    """Torch's names in a module, as they are spelled there or imported, with keywords of calls."""
    modules: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "torch":
                    modules[alias.asname or "torch"] = alias.name if alias.asname else "torch"
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "torch":
            for alias in node.names:
                modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    yield from ((name, set()) for name in modules.values())
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (name := _dotted(node.func, modules)):
            keywords = {keyword.arg for keyword in node.keywords if keyword.arg}
            if name in CONFIG:
                yield from ((f"{name.removesuffix('.patch')}.{each}", set()) for each in keywords)
            else:
                yield name, keywords
        elif id(node) not in inner and (name := _dotted(node, modules)):
            yield name, set()


def _dotted(node: ast.AST, modules: Mapping[str, str]) -> str:
    if isinstance(node, ast.Name):
        return modules.get(node.id, "")
    if isinstance(node, ast.Attribute) and (left := _dotted(node.value, modules)):
        return f"{left}.{node.attr}"
    return ""


def arguments(name: str) -> str | None:
    """The arguments that this torch's `name` takes: `*` for unknown ones; None: it has no such."""
    try:
        thing = _find(name)
    except (ImportError, AttributeError):
        return None
    if not callable(thing):
        return ""
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return "*"
    any_ = any(each.kind is each.VAR_KEYWORD for each in parameters)
    return " ".join([*(p.name for p in parameters if "VAR" not in p.kind.name), *["*"] * any_])


def _find(name: str) -> Any:
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            thing: Any = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            thing = getattr(thing, part)
        return thing
    raise ImportError(name)


def table() -> dict[str, dict[str, str | None]]:
    """By torch's minor version, such as 2.11: its arguments of each name."""
    return dict(json.loads(TABLE.read_text()))


def minor() -> str:
    """The installed torch's version without its patch."""
    return ".".join(torch.__version__.split(".")[:2])


def main() -> None:
    """Write down what the installed torch has."""
    found = table() if TABLE.exists() else {}
    found[minor()] = {name: arguments(name) for name in sorted(used())}
    TABLE.write_text(json.dumps(dict(sorted(found.items())), indent=1) + "\n")


if __name__ == "__main__":
    main()
