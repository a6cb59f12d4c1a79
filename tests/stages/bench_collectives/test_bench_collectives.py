"""What bench_collectives times, derives from its samples, and says on the page."""

import pytest
import torch

from lab.core.files import write_metrics, write_rows
from lab.machine.devices import Devices
from lab.parallel.allreduce.times import Timed, Variant
from lab.parallel.cost_model import (
    ADDING,
    ALGORITHMS,
    LIBRARY,
    PER_TENSOR,
    PROBES,
    STAR,
    THERE_AND_BACK,
    allreduce_name,
)
from lab.report.page import Section
from lab.results.measurements import Results, again, rows_of
from stages.bench_collectives.measure import names
from stages.bench_collectives.measure.among_ranks import SUMS, facts_of, variants_of
from stages.bench_collectives.measure.params import CollectiveParams
from stages.bench_collectives.measure.predicted_times import model_of
from stages.bench_collectives.page import section as collectives_section
from tests.made_up import LINK, measurements, metrics
from tests.stages.bench_collectives.made_up import NETS

TENSORS, SIZE = NETS["lenet"]
TWO = Devices("cpu-virtual", [torch.device("cpu")] * 2, 1)


def page(made, folder, kind="cpu-virtual") -> Section:
    write_rows(folder, rows_of(made))
    write_metrics(folder, metrics("bench_collectives", made, kind))
    return collectives_section.section(folder)


def test_the_link_and_whether_it_is_shared_come_from_the_times_of_the_fewest_ranks():
    for kind, medium in (("cpu-virtual", names.SHARED), ("cuda", names.OWN)):
        made = measurements("bench_collectives", kind)
        m = metrics("bench_collectives", made, kind)
        assert m[names.LINK] == medium
        assert m[names.LATENCY] == pytest.approx(1e6 * LINK.alpha_s, rel=1e-2)
        assert m[names.BANDWIDTH] == pytest.approx(2, rel=1e-2)
        assert m[names.UNSEEN_ERROR] < 1
        model = model_of(Results(made))
        assert (model.few, model.many) == (2, 4)
        assert max(map(abs, model.fit.errors)) < 0.01
        assert model.unseen_error(model.other) > 20
        low, high = model.interval()
        for name in ("alpha_s", "s_per_byte", "add_s_per_byte"):
            found = getattr(model.fit.link, name)
            assert getattr(low, name) <= found <= getattr(high, name)
            assert found == pytest.approx(getattr(LINK, name), rel=1e-2)


def test_what_a_bucket_gains_is_that_of_the_made_up_times_and_of_the_model(tmp_path):
    made = measurements("bench_collectives", "cuda")
    each, joined = (
        messages * 100e-6 + 2 * SIZE / 2e9 + SIZE / 20e9 for messages in (2 * TENSORS, 2)
    )
    m = metrics("bench_collectives", made, "cuda")
    assert m[names.bucket_speedup("lenet")] == pytest.approx(each / joined, rel=1e-3)
    [lenet] = Results(made).series(names.TENSORS, "lenet")
    assert model_of(Results(made)).bucket_speedup(lenet) == pytest.approx(each / joined, rel=1e-2)
    headline = page(made, tmp_path, "cuda").headline
    assert headline is not None
    assert headline.number == f"{each / joined:.2g} times"


def test_probes_nets_and_the_noise_control_are_timed_with_the_fewest_ranks_alone():
    p = CollectiveParams(world_sizes=[2, 4], message_bytes=[4, 400], nets=["lenet"])
    variants = variants_of(p, {n: names.of_one_message(n) for n in (2, 4)})
    assert [variant.algorithm for *_, variant in variants if variant.world_size == 4] == [
        *ALGORITHMS
    ] * 2
    probes = [
        (variant.algorithm, variant.num_bytes)
        for *_, variant in variants
        if variant.algorithm in PROBES
    ]
    assert probes == [(THERE_AND_BACK, 4), (THERE_AND_BACK, 400), (ADDING, 400)]
    experiment = names.of_ranks("lenet", 2)
    of_net = {name: variant for where, name, variant in variants if where == experiment}
    by_notes = allreduce_name(STAR, PER_TENSOR)
    assert of_net.pop(again(by_notes)) == of_net[by_notes]
    assert len({(variant.algorithm, variant.one_bucket) for variant in of_net.values()}) == len(
        SUMS
    )
    [lengths] = {variant.lengths for variant in of_net.values()}
    assert (len(lengths), 4 * sum(lengths)) == (TENSORS, SIZE)


def test_a_sum_that_is_not_exact_and_the_largest_tensor_are_found_among_all():
    def timed(exact: bool, messages: int, num_bytes: int) -> Timed:
        return Timed((1.0,), ((1.0, 1.0),), exact, messages, num_bytes)

    sums = [
        (Variant(STAR, 2, (1,)), timed(True, 1, 4)),
        (Variant(STAR, 2, (100, 100)), timed(False, 2, 800)),
        (Variant(STAR, 2, (150,)), timed(True, 1, 600)),
        (Variant(LIBRARY, 2, (1,)), timed(True, 0, 0)),
        (Variant(PROBES[0], 2, (1000,)), timed(True, 1, 4000)),
    ]
    found = {(m.experiment, m.variant): (m.x, m.values[0]) for m in facts_of(sums, TWO)}
    assert found == {
        (names.of_ranks(names.EXACT, 2), STAR): (600, 0),
        (names.of_ranks(names.SENT, 2), STAR): (600, 600 / 1e6),
        (names.of_ranks(names.MESSAGES, 2), STAR): (600, 1),
        (names.of_ranks(names.EXACT, 2), LIBRARY): (4, 1),
    }
