"""Made-up results of bench_collectives, as a CPU or a GPU would leave them."""

from lab.machine.devices import DeviceKind
from lab.parallel import collectives
from lab.parallel.cost_model import allreduce_path, allreduce_s, bytes_sent
from lab.results.measurements import Measurement, skip
from stages.bench_collectives import __main__ as bench_collectives
from tests.made_up import LINK, one


def measurements(kind: DeviceKind) -> list[Measurement]:
    """Times just as the model has them: links of their own between GPUs, one for all on a CPU."""
    shared = kind != "cuda"

    def ms(name: str, n: int, tensors: int, size: float) -> float:
        return 1e3 * allreduce_s(
            "ring" if name == "library" else name, n, tensors, size, LINK, shared
        )

    made = []
    for n, demo in ((2, "2 ranks"), (4, "4 ranks sharing 2 core(s)" if shared else "4 ranks")):
        for name in collectives.ALGORITHMS:
            made += [one(demo, name, ms(name, n, 1, size), kind, size) for size in (4, 4e3, 4e6)]
            made.append(Measurement(f"exact, {n} ranks", name, 4e6, (1.0,), "", kind))
            if name in bench_collectives.MODELLED:
                sent, path = bytes_sent(name, n, 4e6) / 1e6, allreduce_path(name, n, 1, 4e6)
                made.append(Measurement(f"sent, {n} ranks", name, 4e6, (sent,), "MB", kind))
                made.append(
                    Measurement(
                        f"messages, {n} ranks", name, 4e6, (path.messages,), "messages", kind
                    )
                )
    for size in (4, 4e3, 4e6):
        made.append(
            one(
                "2 ranks",
                "there and back",
                1e3 * (2 * LINK.alpha_s + 2 * size * LINK.s_per_byte),
                kind,
                size,
            )
        )
        added = size / 2 * (2 if shared else 1)
        made.append(one("2 ranks", "adding", 1e3 * added * LINK.add_s_per_byte, kind, size))
    for net, tensors, size in (("lenet", 8, 516_272), ("resnet18", 76, 44_703_272)):
        demo = f"{net}, 2 ranks"
        for name in collectives.ALGORITHMS:
            for way, one_bucket in bench_collectives.WAYS.items():
                time = ms(name, 2, 1 if one_bucket else tensors, size)
                made.append(one(demo, f"{name}, {way}", time, kind, size))
        made.append(one(demo, bench_collectives.ONE_PROCESS, 0.05, kind, size))
        made.append(Measurement("tensors", net, size, (tensors,), "tensors", kind))
    skipped = skip("nccl", "all-reduce between GPUs", "needs 2 CUDA GPUs, found 0", kind)
    return made if kind == "cuda" else [*made, skipped]


def summary(made: list[Measurement]) -> dict[str, float | str]:
    """Return the stage's own metrics of what it measured, its conditions apart."""
    return bench_collectives.summarise(made, 0)
