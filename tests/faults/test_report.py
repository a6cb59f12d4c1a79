"""The page of damaged, hostile and odd results, in odd surroundings, and killed while it is drawn.

Of the sections there are two, drawn from the committed results: all of them take long.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from lab.core.errors import SpaceError
from lab.core.files import read_rows, write_json, write_rows
from lab.core.process import run
from stages.report import __main__ as report
from stages.report import references, sections
from tests.helpers import ROOT, hardware, outlived, write_data

SHOWN = ("claims", "bench_parallel")
PAGES = ("index.html", "index.zh.html", "README.md")
DRAWN = (".html", ".md", ".svg")
PROGRAM = f"""
import sys
from lab.core.process import run
from stages.report import __main__ as report, sections
report.builders = lambda: {{name: sections.builders()[name] for name in {SHOWN}}}
sys.exit(run(report.main))
"""
HOSTILE = "<script>alert(1)</script> ![x](javascript:a) `b` | \\"


@pytest.fixture
def reports(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The results that the two sections tell of, and the sections alone."""
    write_data(project / "data", train=400)
    for name in SHOWN:
        shutil.copytree(ROOT / "reports" / name, project / "reports" / name)
    write_json(project / "reports" / "hardware.json", hardware("this"))
    monkeypatch.setattr(
        report, "builders", lambda: {name: sections.builders()[name] for name in SHOWN}
    )
    return project / "reports"


def draw(*words: str) -> int:
    """Draw the page in this process, which is faster than in another one."""
    sys.argv[1:] = words
    return run(report.main)


@pytest.fixture(autouse=True)
def _own_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["report"])


def start(**environment: str) -> subprocess.Popen[str]:
    """Draw it in a process of its own; a variable that is empty is not set."""
    variables = os.environ | {"PYTHONPATH": str(ROOT)} | environment
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        env={name: value for name, value in variables.items() if value},
        stderr=subprocess.PIPE,
        text=True,
    )


def test_no_display_no_home_and_a_taste_of_ones_own_change_no_byte_and_need_no_word(reports):
    """Nor does a kill before the last page has its name: the old one is there."""
    (reports.parent / "taste").write_text("axes.linewidth: 4\nbackend: TkAgg\n")
    (reports / "index.zh.html").write_bytes(b"old")
    process = start(
        **{"DISPLAY": "", "MPLBACKEND": "no such", "MATPLOTLIBRC": str(reports.parent / "taste")},
        **{"HOME": "/proc/self", "XDG_CACHE_HOME": "", "XDG_CONFIG_HOME": "", "MPLCONFIGDIR": ""},
        **{"LANG": "C", "LC_ALL": "C", "PYTHONHASHSEED": "7", "TZ": "Asia/Kathmandu"},
        LAB_FAIL_POINT="rename reports/index.zh.html=kill",
    )
    assert (process.communicate(timeout=60)[1], process.returncode) == ("", -signal.SIGKILL)
    assert (reports / "index.zh.html").read_bytes() == b"old"
    there = {path: path.read_bytes() for path in reports.rglob("*.*") if path.suffix in DRAWN}
    assert len(there) > 5
    assert draw("--strict") == 0
    differ = [path.name for path in there if path.read_bytes() != there[path]]
    assert differ == ["index.zh.html"]


def test_who_draws_does_not_outlive_the_report(reports):
    process = start(LAB_FAIL_POINT="rename */figures/*=sleep")
    drawing: list[psutil.Process] = []
    deadline = time.monotonic() + 60
    while len(drawing) < 2 and time.monotonic() < deadline:
        assert process.poll() is None
        drawing = psutil.Process(process.pid).children()
        time.sleep(0.05)
    process.kill()
    process.wait()  # not for its stderr, which those who draw have, too
    assert len(drawing) == 2
    assert outlived(drawing) == []


def die(stage: str, language: str, folder: Path) -> str:
    os.kill(os.getpid(), signal.SIGKILL)
    return stage


def test_a_process_that_was_killed_while_it_drew_is_no_traceback(reports, monkeypatch):
    monkeypatch.setattr(sections, "draw_stage", die)
    with pytest.raises(SpaceError, match="a process that draws was killed"):
        sections.draw_figures(SHOWN, {"en": Path("figures")})


def test_strict_names_each_damaged_file_and_the_pages_show_the_rest_as_text(reports, capsys):
    half = (reports / "claims" / "metrics.json").read_bytes()[:300]
    (reports / "claims" / "metrics.json").write_bytes(half)
    (reports / "reference").mkdir()
    (reports / "reference" / "e.json").write_text("{}")
    write_json(reports / "hardware.json", hardware(HOSTILE, gpus=[HOSTILE]))
    assert draw("--strict") == 3
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("ERROR: reports/reference/e.json: damaged (name: field required); `git")
    assert second == "ERROR: no usable results of claims; the page says what brings them"
    [left_out] = references.section(Path("reports")).findings
    assert left_out.startswith("Left out: reports/reference/e.json: damaged")
    html = (reports / "index.html").read_text()
    assert "claims: no results to show" in html
    assert 'id="figure-parallel"' in html
    for name in PAGES:
        text = (reports / name).read_text()
        assert "<script>alert" not in text, name
        assert text.count("&lt;script") >= 2, name
    readme = (reports / "README.md").read_text().splitlines()
    title, chip = [line for line in readme if "&lt;script" in line]
    escaped = r"&lt;script>alert(1)&lt;/script> !\[x\](javascript:a) \`b\` \| " + "\\\\"
    assert title.startswith("# Do the notes' claims hold?")
    assert title.endswith(escaped)
    assert chip.startswith(escaped)


@pytest.mark.parametrize("content", ["{}", '{"accelerator": {"count": 0, "names": 3}}', "[", ""])
def test_a_damaged_hardware_json_is_one_line_and_the_old_page_stays(reports, capsys, content):
    (reports / "hardware.json").write_text(content)
    (reports / "index.html").write_text("old")
    assert draw() == 3
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("ERROR: reports/hardware.json: damaged (")
    assert line.endswith("; `invoke repro --stage probe` writes it anew")
    assert (reports / "index.html").read_text() == "old"


def one_sample(row: dict[str, float | str]) -> bool:
    return row["sample"] == 0


def equal_values(row: dict[str, float | str]) -> bool:
    row["value"] = 1.0 if row["value"] != "" else ""
    return True


@pytest.mark.parametrize("keep", [one_sample, equal_values])
def test_one_sample_and_equal_samples_are_drawn(
    reports, keep: Callable[[dict[str, float | str]], bool]
):
    file = reports / "bench_parallel" / "rows.csv"
    write_rows(file.parent, [row for row in read_rows(file) if keep(row)])
    assert sections.draw_stage("bench_parallel", "en", Path("figures")) == ""
    drawn = list(Path("figures").iterdir())
    assert len(drawn) > 2
    for path in drawn:
        assert "nan" not in path.read_text()
        assert path.stat().st_size < 100_000
