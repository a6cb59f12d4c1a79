import torch

from lab.machine.devices import Devices
from stages.bench_compile.measure import names, thousand_calls

CPU = Devices("cpu-virtual", [torch.device("cpu")], 1)


def test_the_calls_are_those_of_the_notes_in_their_order(monkeypatch):
    """Called, scripted, called; then a new net is called, scripted outside the clock, called."""
    log: list[str] = []

    class Net:
        def __init__(self, name: str) -> None:
            self.name = name

        def to(self, device: torch.device) -> "Net":
            return self

        def __call__(self, x: torch.Tensor) -> None:
            log.append(self.name)

    def script(net: Net) -> Net:
        log.append(f"script {net.name}")
        return Net(f"{net.name} scripted")

    nets = iter((Net("a"), Net("b")))
    monkeypatch.setattr(thousand_calls, "mlp", lambda seed: next(nets))
    monkeypatch.setattr(thousand_calls, "script", script)
    monkeypatch.setattr(thousand_calls, "CALLS", 3)
    monkeypatch.setattr(thousand_calls, "read_clock", lambda devices: float(len(log)))
    measured = thousand_calls.measure_thousand_calls(0, CPU)
    assert log == [*("a", "script a", "a scripted"), *["b"] * 3, "script b", *["b scripted"] * 3]
    assert {m.arm: m.values for m in measured} == {
        names.EAGER: (3000.0,),
        names.SCRIPT: (3000.0,),
        names.FIRST_IN_PROCESS: (1000.0,),
    }
