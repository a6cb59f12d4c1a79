"""The stage `claims`: verdicts from whatever files exist, and its log of changes."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from lab.claims.claim import Kind
from lab.claims.ledger import ledger
from lab.claims.rules import Verdict
from lab.claims.verdicts import judge, judge_all
from lab.core.files import read_rows
from lab.core.process import run
from lab.report import verdict_words
from lab.results.derived import whatever_is_under
from lab.results.diff import Taken
from lab.tools.sides import Side
from stages.claims import __main__ as claims
from tests.helpers import COMMITTED, ROOT

CONFIRMED, REFUTED, _, _, NOT_TESTABLE = Verdict
FOLDERS = sorted({claim.stage for claim in ledger()})


def run_without_torch(folder: Path) -> None:
    blocked = (
        "import sys; sys.modules['torch'] = None; from stages.claims.__main__ import main; main()"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run(
        [sys.executable, "-c", blocked], cwd=folder, env=environment, check=True, timeout=60
    )


def test_the_committed_reports_are_judged_without_torch_and_repeatably(tmp_path):
    shutil.copytree(
        COMMITTED / "reports",
        tmp_path / "reports",
        ignore=shutil.ignore_patterns("claims", "figures", "*.html"),
    )
    folder = tmp_path / "reports" / "claims"
    run_without_torch(tmp_path)
    first = [(folder / name).read_bytes() for name in ("rows.csv", "metrics.json")]
    run_without_torch(tmp_path)
    assert first == [(folder / name).read_bytes() for name in ("rows.csv", "metrics.json")]
    rows = [row for row in read_rows(folder / "rows.csv") if not row["case"]]
    metrics = json.loads((folder / "metrics.json").read_text())
    assert len(rows) == metrics["total"] == len(ledger())
    for verdict in Verdict:
        ids = [row["id"] for row in rows if row["verdict"] == verdict]
        assert metrics[verdict.value.replace(" ", "_")] == len(ids)
    assert all((row["effect"] == "") == (row["verdict"] == NOT_TESTABLE) for row in rows)
    found = {row["id"]: row["verdict"] for row in rows}
    expected = {"A4": CONFIRMED, "D6a": CONFIRMED, "D6b": REFUTED, "D12b": CONFIRMED}
    assert {name: found[name] for name in expected} == expected, (
        "on any machine: these do not depend on times"
    )


def test_contradictions_of_the_commit_are_told_first(project, monkeypatch):
    judged = verdict_words.of_the_notes(judge_all({}))[:9]
    here = [replace(f, verdict=NOT_TESTABLE) for f in judged[:-1]]
    here.append(replace(judged[-1], verdict=REFUTED))
    there = [replace(f, verdict=CONFIRMED) for f in judged]
    monkeypatch.setattr(
        claims, "side_of_commit", lambda rev: SimpleNamespace(taken={}, hardware={})
    )
    monkeypatch.setattr(claims, "judge_all", lambda taken: there)
    _, head, first, *_ = claims.told(here)
    assert head.startswith("9 came out differently")
    assert first.strip().startswith(judged[-1].claim.says.en.rstrip("."))


HOSTILE: dict[str, tuple[bytes, bytes]] = {
    "empty": (b"", b""),
    "other types": (b"[1, 2]", b"a,b\n1\n1,2,3,4\n"),
    "not text": (b"\xff\xfe\x00", b"\xff\xfe\x00\n\xff"),
    "too deep": (b"[" * 100_000, b'demo,arm\n"' + b"x" * 200_000),
    "not a number": (
        b'{"device_kind": NaN, "num_devices": 1e999}',
        b"demo,arm,x,value\ncall,eager,1,nan\n",
    ),
    "foreign": (
        json.dumps({"device_kind": {"a": 1}, "speedup": "fast"}).encode(),
        b"demo,series,x,y\n,,,\n",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_files_of_any_kind_give_verdicts_and_no_error(name, project):
    for folder in FOLDERS:
        path = project / "reports" / folder
        path.mkdir(parents=True)
        (path / "metrics.json").write_bytes(HOSTILE[name][0])
        (path / "rows.csv").write_bytes(HOSTILE[name][1])
    assert run(claims.main) == 0
    assert {row["verdict"] for row in read_rows(Path("reports/claims/rows.csv"))} == {NOT_TESTABLE}


def judged_messages(caplog) -> list[str]:
    caplog.clear()
    with caplog.at_level("INFO"):
        assert run(claims.main) == 0
    return caplog.messages


def test_the_log_counts_what_holds_and_names_what_differs_from_the_commit(project, caplog):
    for stage in ("parallelism", "replicas"):
        shutil.copytree(COMMITTED / "reports" / stage, project / "reports" / stage)
    shutil.copy(COMMITTED / "reports" / "hardware.json", project / "reports")
    there = judge_all(whatever_is_under(Path("reports")))
    [alone] = judged_messages(caplog)  # the folder is not in git yet
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "results"]):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True)
    assert judged_messages(caplog) == [alone]

    shutil.rmtree(project / "reports" / "replicas")
    lost = [f for f in verdict_words.of_the_notes(there) if f.claim.stage == "replicas"]
    lost = [f for f in lost if f.verdict is not NOT_TESTABLE]
    counts, head, *lines = judged_messages(caplog)
    assert counts != alone
    assert head.startswith(f"{len(lost)} came out differently in the committed results")
    assert len(lines) == min(3, len(lost)) > 1
    said = {f.claim.says.en.rstrip(".") for f in lost}
    assert all(line.strip().rsplit(": ", 1)[0] in said for line in lines)
    assert all("untested here" in line and line.endswith(" there") for line in lines)

    (project / "reports" / "hardware.json").unlink()
    assert judged_messages(caplog)[0] == counts, "a run is told without the machine's facts, too"


def test_a_verdict_that_the_commit_contradicts_is_named_first(project, monkeypatch):
    claim = next(claim for claim in ledger() if claim.kind is not Kind.OURS)
    claims_of = [claim.model_copy(update={"id": f"X{i}"}) for i in range(5)]
    here, there = (
        [
            replace(judge(each, Taken({})), verdict=verdict)
            for each, verdict in zip(claims_of, found, strict=True)
        ]
        for found in ([Verdict.INCONCLUSIVE] * 4 + [Verdict.REFUTED], [Verdict.CONFIRMED] * 5)
    )
    monkeypatch.setattr(claims, "side_of_commit", lambda rev: Side({}, {}))
    monkeypatch.setattr(claims, "judge_all", lambda taken: there)
    _, head, first, *others = claims.told(here)
    assert head == "5 came out differently in the committed results:"
    assert "fails here, holds there" in first
    assert len(others) == 2
