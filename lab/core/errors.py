"""The failures that a user can mend, each with its exit code."""

LONGEST_LINE = 1000  # of a message, which may quote what a file holds


class LabError(Exception):
    """A failure whose message says what is wrong (file, key, expected, got) and what to do.

    Each line of the message is a mistake of its own; `exit_code` is the process's exit status.
    """

    exit_code = 1

    def __init__(self, message: str = "") -> None:
        """Keep each line legible, whatever it quotes: its end, which says what to do, stays."""
        super().__init__("\n".join(map(_legible, message.split("\n"))))


def _legible(line: str) -> str:
    """A line that controls no terminal, is no second line to anybody, and is not endless."""
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
    half = LONGEST_LINE // 2
    return shown if len(shown) <= LONGEST_LINE else f"{shown[:half]} ... {shown[-half + 5 :]}"


class ParamsError(LabError):
    """params.yaml, a profile or a command line has a value that is not allowed."""

    exit_code = 2


class DataError(LabError):
    """A data set, a picture or a result is missing, damaged or out of reach."""

    exit_code = 3


class MachineError(LabError):
    """The environment or the hardware cannot do what is asked."""

    exit_code = 4


class CheckpointError(LabError):
    """A checkpoint is damaged or belongs to another run."""

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


class StoppedError(LabError):
    """The run was asked to stop, and did so in good order."""

    def __init__(self, message: str, signal_number: int) -> None:
        """Exit as a process that the signal ends: 130 for Ctrl-C, 143 for SIGTERM."""
        super().__init__(message)
        self.exit_code = 128 + signal_number
