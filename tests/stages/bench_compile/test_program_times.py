from lab.core.shared_params import BenchParams
from lab.machine.devices import Devices
from lab.results.measurements import Results
from stages.bench_compile import names, program_times


def test_every_form_of_the_program_has_the_books_result_and_its_work_is_counted(monkeypatch):
    monkeypatch.setattr(program_times, "time_arms", lambda arms, *_: dict.fromkeys(arms, (1e-6,)))
    params = BenchParams.model_construct()
    results = Results(program_times.measure_program(Devices("cpu", [], 1), params))
    forms = [names.TEXT, names.COMPILED_ONCE, names.FOLDED]
    assert results.arms(names.PROGRAM) == results.arms(names.RESULT) == forms
    assert all(results.one(names.RESULT, form).values == (10,) for form in forms)
    assert results.one(names.INSTRUCTIONS, names.FX_GRAPH).values == (3,), "three additions"
    left = [results.one(names.INSTRUCTIONS, form).values[0] for form in forms[1:]]
    assert left[1] < left[0] / 2
