"""Queries of the NVIDIA driver through `nvidia-smi`."""

import os
import subprocess

QUERY_S = 60  # a driver that nothing keeps loaded takes seconds for each GPU


class NoAnswerError(Exception):
    """nvidia-smi gave no usable answer; the message is the rest of a sentence that says why."""


def query(*fields: str, seconds: float = QUERY_S) -> list[list[str]]:
    """The values of the fields for each GPU that this process may use, as nvidia-smi prints them.

    Raises:
        NoAnswerError: there is no nvidia-smi, it fails (a lost GPU, say), or takes longer.
    """
    command = ["nvidia-smi", f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits"]
    if visible := os.environ.get("CUDA_VISIBLE_DEVICES"):
        command.append(f"--id={visible}")
    try:
        answer = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        raise NoAnswerError(f"does not answer within {seconds:g} s") from None
    except OSError as error:
        raise NoAnswerError(f"does not start ({error.strerror})") from None
    rows = [[cell.strip() for cell in line.split(",")] for line in answer.stdout.splitlines()]
    if answer.returncode or any(len(row) != len(fields) for row in rows):
        said = " ".join(f"{answer.stdout} {answer.stderr}".split())
        raise NoAnswerError(f"fails ({said or f'exit code {answer.returncode}'})")
    return rows
