import torch

from lab.machine.devices import Devices
from lab.results.measurements import Results
from stages.bench_compile.measure import names
from stages.bench_compile.measure.back_end_work import measure_operations, measure_share
from stages.bench_compile.measure.compiled_forms import mlp
from tests.stages.bench_compile.test_form_times import PARAMS

CPU = Devices("cpu-virtual", [torch.device("cpu")], 1)


def test_an_eager_call_hands_over_an_operation_for_each_layer_and_torchscript_one():
    results = Results(measure_operations(mlp(0), PARAMS, CPU))
    assert results.one(names.HANDED_OVER, names.EAGER).values == (5,), "3 linear, 2 relu"
    assert results.one(names.HANDED_OVER, names.SCRIPT).values == (1,)
    assert results.one(names.OPERATIONS, names.EAGER).values[0] > 5, "those that they call"


def test_the_share_is_measured_at_every_size():
    shares = Results(measure_share(mlp(0), PARAMS, CPU)).series(names.BACK_END, names.EAGER)
    assert [m.x for m in shares] == [1, 4]
    assert all(0 < share < 100 for m in shares for share in m.values)
