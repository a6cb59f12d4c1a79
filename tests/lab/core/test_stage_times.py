import pytest

from lab.core.params import PARAMS_FILE, read_yaml
from lab.core.stage_times import (
    COMMITTED,
    OWN,
    PLAN,
    Times,
    announce,
    digest,
    expected_seconds,
    remember,
    write_times,
)
from tests.helpers import edit_params

STAGE = "bench_async"


def usual(stage=STAGE):
    return expected_seconds(stage, read_yaml(PARAMS_FILE))


@pytest.mark.parametrize("key", [f"{STAGE}.book_size", "bench.starts"])
def test_own_times_with_the_same_params_take_precedence_over_committed_times(project, capsys, key):
    write_times(COMMITTED, Times({STAGE: {digest(STAGE, read_yaml(PARAMS_FILE)): 40.0}}))
    assert usual() == 40.0
    remember(STAGE, 20.04)
    assert usual() == 20.0
    section, name = key.split(".")
    before = read_yaml(PARAMS_FILE)[section][name]
    edit_params({key: 7})
    assert usual() is None
    remember(STAGE, 1.0)
    edit_params({key: before})
    assert usual() == 20.0, "which a run with other params did not overwrite"
    announce(STAGE)
    assert capsys.readouterr().err == "# bench_async, about 20 s\n"


def test_a_run_announces_its_position_and_the_remaining_time(project, monkeypatch, capsys):
    monkeypatch.setenv(PLAN, f"probe {STAGE} bench_input fetch")
    for stage, seconds in {"probe": 1.0, STAGE: 90.0, "bench_input": 30.0}.items():
        remember(stage, seconds)
    announce(STAGE)
    announce("bench_input")
    announce("scaling")
    assert capsys.readouterr().err.splitlines() == [
        "# 2 of 4, about 2 min or more left: bench_async, about 2 min",
        "# 3 of 4, about 30 s or more left: bench_input, about 30 s",
        "# scaling",
    ]


def test_committed_times_are_scaled_by_the_fixed_work_and_by_stages_timed_here(project):
    keys = {name: digest(name, read_yaml(PARAMS_FILE)) for name in (STAGE, "bench_input", "fetch")}
    write_times(COMMITTED, Times({name: {key: 40.0} for name, key in keys.items()}, work_s=1.0))
    assert usual() == 40.0, "nothing is known of this machine"
    write_times(OWN, Times(work_s=2.0))
    assert usual() == pytest.approx(80.0)
    remember("fetch", 160.0)  # four times as long
    assert 80.0 < usual() < 160.0
    remember("bench_input", 160.0)
    assert 110.0 < usual() < 160.0, "more sure with each stage"


def test_a_short_stage_says_little_about_the_machine():
    here, there = (Times({"probe": {"0": s}}, work_s=1.0) for s in (0.4, 0.1))
    assert here.times_as_long_as(there) == pytest.approx(1.0, abs=0.01)
