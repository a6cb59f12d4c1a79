"""One-line errors, with advice, if torch.compile cannot build or load a program here."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from lab.core.errors import MachineError, SpaceError

COMPILERS = ("torch._dynamo", "torch._inductor")  # modules of their exceptions
OTHER_FOLDER = "`export TORCHINDUCTOR_CACHE_DIR=FOLDER`, one that is yours and not mounted noexec"


@contextmanager
def compiler_errors() -> Iterator[None]:
    """Convert what torch raises when it cannot compile; other exceptions stay as they are.

    Raises:
        MachineError: the compiler fails, or its programs cannot be written or loaded.
        SpaceError: no space is left for the programs.
    """
    try:
        yield
    except OSError as error:
        if error.filename is None:  # not about the cache, which torch creates with the compilers
            raise
        raise MachineError(
            f"torch.compile: {error}; {OTHER_FOLDER}, or take compile none"
        ) from error
    except RuntimeError as error:
        if not type(error).__module__.startswith(COMPILERS):
            raise
        reason = _reason(str(error))
        if "No space left" in str(error):
            raise SpaceError(
                f"torch.compile: {reason}; free some space, or {OTHER_FOLDER}"
            ) from error
        of_folder = isinstance(getattr(error, "inner_exception", None), OSError)
        cure = OTHER_FOLDER if of_folder else "fix the compiler"
        raise MachineError(f"torch.compile: {reason}; {cure}, or take compile none") from error


def _reason(text: str) -> str:
    """Return the C++ compiler's first error, or the first sentence of torch's message."""
    [first, *_] = re.findall(r"^.*(?:No space left|\berror: ).*$", text, re.MULTILINE) or [text]
    return re.split(r"\.\s|\n", first.strip())[0]
