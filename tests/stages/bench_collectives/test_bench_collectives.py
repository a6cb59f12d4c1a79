"""What bench_collectives times, derives from its samples, and tells on the page."""

from dataclasses import replace

import pytest
import torch

from lab.machine.devices import Devices
from lab.parallel.allreduce.times import FirstCall, Variant
from lab.parallel.cost_model import ADDING, ALGORITHMS, LIBRARY, PROBES, STAR, THERE_AND_BACK
from lab.results.measurements import Results, again
from stages.bench_collectives.measure.all_reduces import SUMS, facts_of, measure_once, planned_of
from stages.bench_collectives.measure.model import model_of
from stages.bench_collectives.measure.params import CollectiveParams
from stages.bench_collectives.page.values import values
from tests.made_up import LINK, measurements, metrics
from tests.stages.bench_collectives.made_up import NETS

TENSORS, SIZE = NETS["lenet"]
FOUR = Devices("cpu-virtual", [torch.device("cpu")] * 4, 1)
PARAMS = CollectiveParams(world_sizes=[2, 4], message_bytes=[4, 400], nets=["lenet"])


def test_the_link_and_whether_it_is_shared_come_from_the_times_of_the_fewest_ranks():
    for kind, medium in (("cpu-virtual", "shared"), ("cuda", "own")):
        made = measurements("bench_collectives", kind)
        m = metrics("bench_collectives", made, kind)
        assert m["link"] == medium
        assert m["latency_us"] == pytest.approx(1e6 * LINK.alpha_s, rel=1e-2)
        assert m["bandwidth_gb_per_s"] == pytest.approx(2, rel=1e-2)
        assert m["unseen_error_percent"] < 1
        model = model_of(Results(made))
        assert (model.few, model.many) == (2, 4)
        assert model.cores == {2: 0, 4: 2 if kind == "cpu-virtual" else 0}
        assert max(map(abs, model.fit.errors)) < 0.01
        assert model.unseen_error(model.other) > 20
        low, high = model.interval()
        for name in ("alpha_s", "s_per_byte", "add_s_per_byte"):
            found = getattr(model.fit.link, name)
            assert getattr(low, name) <= found <= getattr(high, name)
            assert found == pytest.approx(getattr(LINK, name), rel=1e-2)


def test_what_a_bucket_gains_is_that_of_the_made_up_times_and_of_the_model(made_up_reports):
    made = measurements("bench_collectives", "cuda")
    each, joined = (
        messages * 100e-6 + 2 * SIZE / 2e9 + SIZE / 20e9 for messages in (2 * TENSORS, 2)
    )
    m = metrics("bench_collectives", made, "cuda")
    assert m["lenet_bucket_speedup"] == pytest.approx(each / joined, rel=1e-3)
    [lenet] = Results(made).series("tensors", "lenet")
    assert model_of(Results(made)).bucket_speedup(lenet) == pytest.approx(each / joined, rel=1e-2)
    net = values(made_up_reports / "cuda" / "bench_collectives")["nets"][0]
    assert (net.gain.median, net.predicted) == pytest.approx((each / joined,) * 2, rel=1e-2)
    assert net.latency == pytest.approx(2 * TENSORS * 100e-6 / each, rel=1e-2)


def test_the_page_tells_the_books_example_and_what_each_algorithm_sends(made_up_reports):
    for kind, shared in (("cpu-virtual", True), ("cuda", False)):
        told = values(made_up_reports / kind / "bench_collectives")
        assert told["shared"] == shared
        assert told["exact"]
        at_2_gb_per_s = [8 * float(row["book"]) for row in told["example"]]  # the book's: 16
        assert [row["ms"] for row in told["example"]] == pytest.approx(at_2_gb_per_s, rel=1e-2)
        sent = {row["name"]: row.get("sent") for row in told["algorithms"]}
        assert sent == {"star": 12, "ring": 6, "tree": 8, "halving-doubling": 6, "library": None}


def test_probes_nets_and_the_noise_control_are_timed_with_the_fewest_ranks_alone():
    planned = planned_of(PARAMS, [2, 4], FOUR, cores=2)
    assert [variant.algorithm for _, variant in planned if variant.world_size == 4] == [
        *ALGORITHMS
    ] * 2
    assert {m.columns.get("cores") for m, v in planned if v.world_size == 4} == {2}
    assert {m.columns.get("cores") for m, v in planned if v.world_size == 2} == {None}
    probes = [
        (variant.algorithm, variant.num_bytes)
        for _, variant in planned
        if variant.algorithm in PROBES
    ]
    assert probes == [(THERE_AND_BACK, 4), (THERE_AND_BACK, 400), (ADDING, 400)]
    of_net = {m.key: (m, v) for m, v in planned if m.experiment == "gradients"}
    [(control, variant)] = [each for each in of_net.values() if each[0].variant == again(STAR)]
    assert of_net.pop(control.key) and of_net[replace(control, variant=STAR).key][1] == variant
    assert len({(v.algorithm, v.one_bucket) for _, v in of_net.values()}) == len(SUMS)
    [lengths] = {v.lengths for _, v in of_net.values()}
    assert (len(lengths), 4 * sum(lengths)) == (TENSORS, SIZE)


def test_a_sum_that_is_not_exact_and_the_largest_tensor_are_found_among_all():
    sums = [
        (Variant(STAR, 2, (1,)), FirstCall(True, 1, 4)),
        (Variant(STAR, 2, (100, 100)), FirstCall(False, 2, 800)),
        (Variant(STAR, 2, (150,)), FirstCall(True, 1, 600)),
        (Variant(LIBRARY, 2, (1,)), FirstCall(True, 0, 0)),
        (Variant(PROBES[0], 2, (1000,)), FirstCall(True, 1, 4000)),
    ]
    found = {(m.experiment, m.variant): (m.x, m.values[0]) for m in facts_of(sums, FOUR)}
    assert found == {
        ("exact", STAR): (600, 0),
        ("sent", STAR): (600, 600 / 1e6),
        ("messages", STAR): (600, 1),
        ("exact", LIBRARY): (4, 1),
    }


def test_what_needs_gpus_is_skipped():
    two = Devices("cuda", [torch.device("cuda", i) for i in range(2)], 1)
    assert [m.variant for m in measure_once(PARAMS, two) if not m.values] == ["4 ranks"]
