"""What the report lets a reader play with: an all-reduce over other links, by the cost model.

`allreduce.js` computes with the formulas of `lab.parallel.cost_model`; a test compares them.
"""

from pathlib import Path

from lab.parallel.cost_model import ALGORITHMS, MODELLED, PER_TENSOR, RING
from lab.report.language import say, translation
from lab.report.page import Choice, Explorable, Slider
from lab.results.documents import read_results
from stages.bench_collectives.model import Model, model_of

GRADIENTS = ("lenet", "resnet18")


def explorables(folder: Path) -> list[Explorable]:
    """The explorables of `folder` (reports/bench_collectives)."""
    return [allreduce(model_of(read_results(folder)))]


def allreduce(model: Model) -> Explorable:
    """An all-reduce's time against its bytes, from this machine's link on."""
    link = model.fit.link
    alpha_s, bytes_per_s = link.alpha_s or 1e-7, 1 / (link.s_per_byte or 1e-12)
    words = {name: translation(name) for name in ALGORITHMS}
    return Explorable(
        name="allreduce",
        controls=[
            Choice("algorithm", say("algorithm"), {name: words[name] for name in MODELLED}, RING),
            Choice(
                "link",
                say("link between ranks"),
                {"own": say("one for each rank"), "shared": say("one for all ranks")},
                "shared" if model.fit.shared else "own",
            ),
            Slider("ranks", say("ranks"), low=2, high=64, value=model.few, step=1),
            Slider("tensors", say("number of tensors"), low=1, high=200, value=1, step=1),
            Slider.by_factors("bytes", say("total bytes"), 4, 1e9, 16e6, 1.25, "B"),
            Slider.by_factors("latency", say("latency"), 1e-7, 0.1, alpha_s, 1.15, "s"),
            Slider.by_factors("bandwidth", say("bandwidth"), 1e8, 1e12, bytes_per_s, 1.15, "B/s"),
        ],
        outputs={
            "time": say("time"),
            "messages": say("messages in sequence"),
            "sent": say("the busiest rank sends"),
            "latency_share": say("share of latency (%)"),
        },
        words={
            **words,
            "bytes": say("total bytes"),
            "time": say("time of an all-reduce"),
            "measured": say("measured, same ranks and tensors"),
        },
        data={"add_s_per_byte": link.add_s_per_byte, "measured": _measured(model)},
    )


def _measured(model: Model) -> list[dict[str, object]]:
    """The median times of all-reduces: of single tensors, and of nets' gradients one by one."""
    results, few = model.results, model.few
    timed = [
        (1, m)
        for algorithm in ALGORITHMS
        for n in model.cores
        for m in results.series("message", algorithm, ranks=n)
    ] + [
        (int(count.values[0]), m)
        for algorithm in ALGORITHMS
        for net in GRADIENTS
        for count in results.series("tensors", net)
        for m in results.series("gradients", algorithm, ranks=few, net=net, grouping=PER_TENSOR)
    ]
    return [
        {
            "algorithm": m.variant,
            "ranks": int(m.columns["ranks"]),
            "tensors": tensors,
            "bytes": m.x,
            "seconds": m.summary.median / 1e3,
        }
        for tensors, m in timed
    ]
