"""torch.compile that cannot build or load a program here: one line, and what to do."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from lab.core.errors import MachineError, SpaceError

COMPILERS = ("torch._dynamo", "torch._inductor")  # whose exceptions these are
OTHER_FOLDER = "`export TORCHINDUCTOR_CACHE_DIR=FOLDER`, one that is yours and not mounted noexec"


@contextmanager
def compiler_errors() -> Iterator[None]:
    """Turn what torch raises when it cannot compile into an error; the rest stays as it is.

    Raises:
        MachineError: the compiler fails, or its programs cannot be written or loaded.
        SpaceError: no space is left for them.
    """
    try:
        yield
    except OSError as error:
        if error.filename is None:  # none of the cache's, which torch makes when it loads compilers
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
        cure = OTHER_FOLDER if of_folder else "mend the compiler"
        raise MachineError(f"torch.compile: {reason}; {cure}, or take compile none") from error


def _reason(text: str) -> str:
    """The C++ compiler's first error, or the sentence that torch begins with."""
    [first, *_] = re.findall(r"^.*(?:No space left|\berror: ).*$", text, re.MULTILINE) or [text]
    return re.split(r"\.\s|\n", first.strip())[0]
