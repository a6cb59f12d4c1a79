"""One target in a project: what it is tried with, and what became of each input."""

from collections.abc import Callable
from pathlib import Path

from hypothesis import strategies as st

from lab.core.errors import MachineError
from tests.faults.fuzz.inputs import contents
from tests.faults.fuzz.outcome import Outcome, outcome
from tests.faults.fuzz.targets import Target

Input = tuple[str, bytes]  # a file of the project, and what is written into it


class Trial:
    """A target in a project, which is the working directory."""

    def __init__(self, target: Target) -> None:
        """Remember the files as they are."""
        self.target = target
        self.valid = {path: Path(path).read_bytes() for path in target.reads}

    def inputs(self) -> st.SearchStrategy[Input]:
        """What is tried."""
        more = self.target.more()
        return st.one_of(
            st.tuples(st.just(path), contents(kind, [self.valid[path], *more]))
            for path, kind in self.target.reads.items()
        )

    def judge(self, path: str, content: bytes) -> Outcome:
        """What became of an input; the file is as it was when this returns."""
        Path(path).write_bytes(content)
        return self._judged(path)

    def judge_without(self, path: str, make: Callable[[Path], object]) -> Outcome:
        """What became of whatever `make` puts where the file was."""
        Path(path).unlink()
        make(Path(path))
        return self._judged(path, MachineError.exit_code)

    def _judged(self, path: str, *more_codes: int) -> Outcome:
        file, codes = Path(path), (*self.target.codes, *more_codes)
        try:
            return outcome(lambda: self.target.call(file), codes, self.target.also)
        finally:
            if file.is_dir() and not file.is_symlink():
                file.rmdir()
            elif not file.is_file() or file.is_symlink():
                file.unlink(missing_ok=True)
            file.write_bytes(self.valid[path])
