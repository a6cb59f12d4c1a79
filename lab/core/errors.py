"""Failures that a user can fix, each with its exit code."""

import difflib
from collections.abc import Collection


class LabError(Exception):
    """A failure whose message says what is wrong (file, key, expected, got) and what to do.

    Each line of the message is a separate mistake; `exit_code` is the process's exit status.
    """

    exit_code = 1


class ParamsError(LabError):
    """params.yaml, a profile or a command line has a value that is not allowed."""

    exit_code = 2


class DataError(LabError):
    """A data set, a picture or a result is missing, damaged or out of reach."""

    exit_code = 3


class NotThereError(DataError):
    """A result is not there yet."""


class MachineError(LabError):
    """The environment or the hardware cannot do what is required."""

    exit_code = 4


class CheckpointError(LabError):
    """A checkpoint is damaged or belongs to a different run."""

    exit_code = 5


class DivergedError(LabError):
    """The loss is no longer finite."""

    exit_code = 6


class DistributedError(LabError):
    """The processes of a run lost each other, or another process is training the run."""

    exit_code = 7


class SpaceError(LabError):
    """The disk or the memory is full."""

    exit_code = 8


def instead_of(word: str, known: Collection[str]) -> str:
    """Return what to suggest for an unknown word: the nearest known one, or all known ones."""
    if near := difflib.get_close_matches(word, known, n=1):
        return f"did you mean {near[0]}?"
    return f"known: {', '.join(sorted(known)) or 'none yet'}"
