"""The ways a run can fail for a reason that its user can mend, each with its exit code."""


class LabError(Exception):
    """A failure with one clear line: what was wrong (file, key, expected, got) and what to do.

    `exit_code` is the process's exit status. A message of several lines is several independent
    mistakes, one line each.
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


class CheckpointError(LabError):
    """A checkpoint is damaged or not this run's."""

    exit_code = 5


class DivergedError(LabError):
    """Training left the finite numbers."""

    exit_code = 6


class DistributedError(LabError):
    """The processes of a run lost each other, or another process has the run."""

    exit_code = 7


class SpaceError(LabError):
    """The disk or the memory is full."""

    exit_code = 8


class StoppedError(LabError):
    """Somebody asked the run to stop, and it did so in good order."""

    def __init__(self, message: str, signal_number: int) -> None:
        """Exit as a process that the signal ended: 130 for Ctrl-C, 143 for SIGTERM."""
        super().__init__(message)
        self.exit_code = 128 + signal_number
