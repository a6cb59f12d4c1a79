"""Each stage with code for GPUs waits for what it times and for what it reads."""

import pytest

from tests.simulated_gpus.simulation import places

pytestmark = pytest.mark.slow

# Where a clock is read with work pending, and why that is right
CLOCKS_THAT_DO_NOT_WAIT = {
    "stages/bench_async/measure/calls.py call_times": "when a call returns is the question",
    "stages/bench_compile/measure/times.py _enqueue_seconds": "Python's own share of a call",
    "stages/bench_overlap/measure/overlap.py measure_return": "when a copy's call returns",
    "stages/bench_parallel/measure/two_devices.py measure_waits": "each wait awaits other GPUs",
}
# An intentional race: claim B4's control, on another stream without an event
CONTROLS = {"stages/bench_async/measure/back_end.py x_times_y_plus_2"}

# Numbers of GPUs: two, and others where the code then takes other branches. `scaling` uses two of
# its four as well.
STAGES = {
    "bench_async": (1, 2),
    "bench_compile": (2,),
    "bench_hardware": (2,),
    "bench_input": (2,),
    "bench_overlap": (2,),
    "bench_parallel": (1, 2, 4),
    "bench_training": (2,),
    "convergence": (2,),
    "own_network": (1, 2),
    "parallelism": (2,),
    "replicas": (1, 2),
    "scaling": (4,),
    "schedules": (2,),
    "together": (2,),
}


@pytest.mark.parametrize(
    ("stage", "gpus"), [(stage, gpus) for stage, each in STAGES.items() for gpus in each]
)
def test_a_stage_waits_for_what_it_times_and_for_what_it_reads(measured, stage, gpus):
    notes = measured(stage, gpus)
    assert any(note.kind == "first" for note in notes), "it computes on a GPU"
    assert places(notes, "clock") <= set(CLOCKS_THAT_DO_NOT_WAIT)
    assert places(notes, "race") <= CONTROLS
