"""What the driver of NVIDIA's GPUs says of them, by its own program."""

import os

from lab.machine.answers import ask


class NoAnswerError(Exception):
    """nvidia-smi told nothing; the message says why."""


def query(*fields: str, seconds: float) -> list[list[str]]:
    """The fields' values of each GPU that this process may use, in nvidia-smi's words.

    Raises:
        NoAnswerError: it is not there, does not end in so many seconds, or fails, as where a GPU
            is lost.
    """
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    these = [f"--id={visible}"] if visible else []
    words = ["nvidia-smi", f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits"]
    answer = ask([*words, *these], seconds)
    rows = [[cell.strip() for cell in line.split(",")] for line in answer.stdout.splitlines()]
    if answer.problem or any(len(row) != len(fields) for row in rows):
        said = " ".join(f"{answer.stdout} {answer.stderr}".split())
        raise NoAnswerError(": ".join(filter(None, (answer.problem or "says", said))))
    return rows
