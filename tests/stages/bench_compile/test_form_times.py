from lab.machine.devices import Devices
from stages.bench_compile import form_times


def test_each_of_the_first_calls_has_its_own_time(monkeypatch):
    now, durations = 0.0, iter((5.0, 1.0, 0.5))

    def form(x):
        nonlocal now
        now += next(durations)

    monkeypatch.setattr(form_times, "read_clock", lambda devices: now)
    assert form_times.first_calls(form, None, Devices("cpu", [], 1), 3) == [5, 1, 0.5]
