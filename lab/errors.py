"""The ways a run can fail for a reason that its user can mend, each with its exit code."""


class LabError(Exception):
    """A failure with one clear line: what was wrong (file, key, expected, got) and what to do.

    `exit_code` is the process's exit status. A message of several lines is several independent mistakes,
    one line each.
    """

    exit_code = 1


class ParamsError(LabError):
    """params.yaml, or a profile, asks for something that makes no sense."""

    exit_code = 2


class DataError(LabError):
    """A data set is missing, damaged or out of reach."""

    exit_code = 3


class MachineError(LabError):
    """The environment or the hardware cannot run this."""

    exit_code = 4


class DivergedError(LabError):
    """Training left the finite numbers."""

    exit_code = 6


class SpaceError(LabError):
    """The disk or the memory is full."""

    exit_code = 8
