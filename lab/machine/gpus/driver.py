"""Queries of the NVIDIA driver through `nvidia-smi`."""

import os
import subprocess

QUERY_S = 60  # a driver that is not kept loaded takes seconds per GPU


class NoAnswerError(Exception):
    """nvidia-smi gave no usable answer; the message completes a sentence that starts with it."""


def query(*fields: str, seconds: float = QUERY_S) -> list[list[str]]:
    """Return the fields' values for each GPU visible to this process, as nvidia-smi prints them.

    Raises:
        NoAnswerError: there is no nvidia-smi, it fails (e.g. a lost GPU), or takes over `seconds`.
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
