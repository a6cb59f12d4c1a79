"""The scripts of bench/ refuse wrong arguments, and work on little data."""

import json
import os
import re
import statistics

import pytest

from tests.helpers import ROOT, python, run_stage, write_data

NOWHERE = {f"{scheme}_PROXY": "http://127.0.0.1:1" for scheme in ("HTTP", "HTTPS")}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["bench.accuracy_bands"], "required: seeds"),
        (["bench.accuracy_bands", "many"], "'many'"),
        (["bench.accuracy_bands", "1"], "expected 2 or more, got 1"),
        (["bench.kills", "--minutes", "many"], "'many'"),
        (["bench.kills", "--job", "nap"], "'nap'"),
    ],
)
def test_a_missing_or_wrong_argument_is_reported_below_the_usage(words, said):
    ended = run_stage(*words)
    *usage, error = ended.stderr.splitlines()
    assert (ended.returncode, ended.stdout) == (2, "")
    assert usage[0].startswith("usage: ") and "Traceback" not in ended.stderr
    assert ": error: " in error and said in error


def test_without_data_bands_end_with_one_line(project):
    ended = run_stage("bench.accuracy_bands", "2")
    [line] = ended.stderr.splitlines()
    assert ended.returncode == 3 and line.startswith("ERROR: data/")


@pytest.mark.slow
def test_bands_follow_from_the_printed_runs(project):
    write_data(project / "data", train=600, test=100)
    ended = run_stage("bench.accuracy_bands", "2")
    assert (ended.returncode, ended.stderr) == (0, "")
    *runs, fp32, bf16, notes = ended.stdout.splitlines()
    found = [json.loads(run) for run in runs]
    for line in (fp32, bf16, notes):
        variant, _, told = line.partition(": ")
        ends = [100 * r["test_accuracy"][-1] for r in found if r["variant"] == variant]
        assert len(ends) == 2
        numbers = [float(number) for number in re.findall(r"\d+\.\d+", told)]
        expected = [statistics.mean(ends), statistics.stdev(ends), min(ends), max(ends)]
        assert numbers == pytest.approx(expected, abs=0.006)


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs a checkout, which it copies")
def test_a_killed_job_resumes_with_the_same_bits():
    """Without a mirror it gets no network either, and draws look-alike data."""
    nowhere = {} if os.environ.get("LAB_DATA_MIRROR") else NOWHERE
    ended = python("-m", "bench.kills", "--minutes", "0.01", "--job", "theory", cwd=ROOT, **nowhere)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    table = re.findall(r"(?m)^(\w+(?: \w+)?) +(\d) +(\d)$", ended.stdout)
    assert [layer for layer, *_ in table] == ["invoke", "dvc", "stage", "fork server", "forked"]
    assert all(kills == same for _, kills, same in table)
