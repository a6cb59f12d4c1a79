"""The Chinese of figures and controls: a words.yaml in each folder that has such words."""

from pathlib import Path

from lab.core.params import read_yaml
from lab.report.language import ENGLISH

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("lab/*", "stages/*/page", "stages/report")


def read(language: str) -> dict[str, str]:
    """All messages by their English text, in a language: in Chinese, or as they are.

    Raises:
        ParamsError: a file is damaged.
    """
    if language == ENGLISH:
        return {}
    files = sorted(file for each in FOLDERS for file in ROOT.glob(f"{each}/words.yaml"))
    return {k: v for file in files for k, v in read_yaml(file).items()}
