from lab.core.shared_params import BenchParams
from lab.machine.devices import Devices
from lab.results.measurements import Results
from stages.bench_compile.measure import names, program_times

CPU = Devices("cpu", [], 1)
FORMS = [names.TEXT, names.COMPILED_ONCE, names.FOLDED]


def test_every_form_of_the_program_is_timed():
    params = BenchParams(starts=1, rounds=2, min_sample_ms=1e-3)
    results = Results(program_times.measure_program(CPU, params, start=0))
    assert results.arms(names.PROGRAM) == FORMS


def test_every_form_prints_the_books_result_and_its_work_is_counted():
    results = Results(program_times.measure_printed(CPU))
    assert results.arms(names.PRINTED) == [names.CALLED, *FORMS]
    assert all(results.one(names.PRINTED, form).values == (10,) for form in FORMS)
    assert results.one(names.INSTRUCTIONS, names.FX_GRAPH).values == (3,), "three additions"
    left = [results.one(names.INSTRUCTIONS, form).values[0] for form in FORMS[1:]]
    assert left[1] < left[0] / 2
