"""Times of stages, from what DVC says and by a clock that the test moves."""

from invoke.context import Context

from lab.core.files import write_json
from lab.tools import stage_times
from lab.tools.stage_times import Listener, StageTimes


def listen(known, *said):
    """What is told, and what is taken, if `said` are pairs of seconds and text."""
    now, told, stream = [0.0], [], ""
    times = StageTimes(known, told.append, lambda: now[0])
    listener = Listener(times.hear)
    for seconds, text in said:
        now[0] = seconds
        stream += text
        assert list(listener.submit(stream)) == []
    now[0] += 5
    return times, told


def test_stages_are_timed_from_one_to_the_next_and_what_is_ahead_is_told():
    times, told = listen(
        {"fetch": 3, "bench": 100, "train@a": 200, "report": 10},
        (0, "Running stage 'fetch':\n> python -m stages.fetch\n"),
        (4, "Stage 'bench' didn't change, ski"),
        (4, "pping\r\nRunning sta"),
        (5, "ge 'train@a':\r\n"),
        (
            250,
            "Stage 'claims' is cached - skipping run, checking out outputs\nRunning stage 'new':",
        ),
        (251, "\n"),
    )
    times.end_stage()
    assert times.taken == {"fetch": 5.0, "train@a": 246.0, "new": 5.0}
    assert told == [
        "# fetch: about 3 s, then at most 5 min",
        "# train@a: about 3 min, then at most 10 s",
        "# new: not timed before, then at most 10 s",
    ]


def test_a_stage_that_did_not_end_well_is_not_remembered():
    times, _ = listen({}, (0, "Running stage 'a':\n"), (3, "Running stage 'b':\n"))
    assert times.taken == {"a": 3.0}


def test_this_machines_own_times_count_more_than_the_committed_ones(project):
    assert stage_times.known_seconds() == {}
    write_json(stage_times.COMMITTED, {"fetch": 3, "train@a": 200})
    stage_times.remember({"fetch": 1.5})
    stage_times.remember({"claims": 2})
    assert stage_times.known_seconds() == {"fetch": 1.5, "claims": 2, "train@a": 200}


def test_what_a_real_command_says_is_heard_in_the_thread_that_asked():
    """invoke reads a command's streams in threads of its own."""
    times = StageTimes({}, tell=lambda line: None)
    command = "echo \"Running stage 'a':\"; echo error >&2; echo \"Running stage 'b':\""
    Context().run(command, hide=True, in_stream=False, watchers=[Listener(times.hear)])
    times.end_stage()
    assert set(times.taken) == {"a", "b"}
