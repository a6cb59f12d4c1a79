import json
import time
from dataclasses import asdict

from lab.core.files import write_json
from lab.core.params import PARAMS_FILE, read_yaml
from lab.core.stage_times import (
    COMMITTED,
    PLAN,
    Plan,
    Times,
    announce,
    digest,
    remember,
    usual_seconds,
)
from tests.helpers import edit_params


def test_own_times_of_the_same_params_count_before_the_committed_runs(project):
    stage = "bench_async"
    with_these = digest(stage, read_yaml(PARAMS_FILE))
    write_json(COMMITTED, asdict(Times({stage: {with_these: 40.0}})))
    assert usual_seconds(stage) == 40.0
    remember(stage, 20.04)
    assert usual_seconds(stage) == 20.0
    before = read_yaml(PARAMS_FILE)["bench_async"]["book_size"]
    edit_params({"bench_async.book_size": 7})
    assert usual_seconds(stage) is None
    remember(stage, 1.0)
    edit_params({"bench_async.book_size": before})
    assert usual_seconds(stage) == 20.0, "which a run with other params did not overwrite"


def test_what_is_left_goes_at_the_pace_of_what_is_finished():
    plan = Plan(began=100.0, seconds={"a": 540.0, "b": 300.0, "c": 300.0})
    assert plan.seconds_left(100.0) == 1140.0
    half = Plan(100.0, plan.seconds, finished=("a",))
    assert half.seconds_left(100.0 + 540.0) == 600.0, "as planned"
    assert half.seconds_left(100.0 + 1140.0) == 1200.0, "at half the pace"
    assert half.place_of("b") == "2 of 3"
    assert half.place_of("another") == "2 of 4"


def test_each_stage_tells_of_the_whole_run_and_the_last_one_keeps_the_times(
    project, monkeypatch, capsys
):
    params = read_yaml(PARAMS_FILE)
    digests = {stage: digest(stage, params) for stage in ("probe", "bench_async", "fetch")}
    speed = {"product_gflops": 100.0}
    planned = {"probe": 1.0, "bench_async": 40.0}
    plan = Plan(time.monotonic(), planned, committed=digests, speed=speed)
    remember("fetch", 2.0)
    monkeypatch.setenv(PLAN, str(project / "plan.json"))
    write_json(project / "plan.json", asdict(plan))
    for place, stage in (("1 of 2", "probe"), ("2 of 2", "bench_async")):
        announce(stage)
        assert place in capsys.readouterr().err
        assert not COMMITTED.exists()
        remember(stage, 3.0)
    assert json.loads(COMMITTED.read_text()) == {
        "seconds": {
            "probe": {digests["probe"]: 3.0},
            "bench_async": {digests["bench_async"]: 3.0},
            "fetch": {digests["fetch"]: 2.0},
        },
        "speed": speed,
    }
