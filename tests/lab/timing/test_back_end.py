import torch

from lab.timing.back_end import profiled

CPU = [torch.device("cpu")]


def test_operations_are_those_handed_over_and_those_that_they_call():
    x = torch.ones(4, 4)
    found = profiled(lambda: (x + x) * x, CPU)
    assert (found.handed_over, found.operations) == (2, 2)
    linear = profiled(lambda: torch.nn.functional.linear(x, x), CPU)
    assert linear.handed_over == 1
    assert linear.operations > 1, "linear calls others"


def test_pythons_work_is_not_the_back_ends():
    x = torch.rand(256, 256)

    def with_python() -> None:
        torch.mm(x, x)
        sum(range(300_000))

    alone, beside_python = (
        profiled(arm, CPU, 0.01).share for arm in (lambda: torch.mm(x, x), with_python)
    )
    assert 0 < beside_python < alone <= 100
