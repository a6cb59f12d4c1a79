import torch

from lab.timing import clock


def test_every_gpu_is_waited_for_before_the_clock_is_read(monkeypatch):
    order = []
    monkeypatch.setattr(torch.cuda, "synchronize", lambda gpu: order.append(str(gpu)))
    monkeypatch.setattr(clock.time, "perf_counter", lambda: order.append("read") or 1.0)
    gpus = [torch.device("cuda", index) for index in (0, 1, 0)]
    clock.read_clock([*gpus, torch.device("cpu")])
    *waited, last = order
    assert sorted(waited) == ["cuda:0", "cuda:1"]
    assert last == "read"
