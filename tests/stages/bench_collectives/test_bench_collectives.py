"""What bench_collectives derives from its samples."""

import pytest

from lab.core.files import write_metrics, write_rows
from lab.results.measurements import Measurement, rows_of
from lab.timing import bench
from stages.bench_collectives import __main__ as bench_collectives
from stages.bench_collectives import section as collectives_section
from stages.bench_collectives.params import CollectiveParams
from tests.helpers import draw
from tests.made_up import LINK, measurements, metrics


@pytest.mark.parametrize(
    ("kind", "model"), [("cpu-virtual", "one shared link"), ("cuda", "own links")]
)
def test_the_link_and_what_is_shared_are_told_from_the_times_of_the_fewest_ranks(kind, model):
    m = metrics("bench_collectives", measurements("bench_collectives", kind), kind)
    assert (m["model"], m["fewest_ranks"], m["most_ranks"], m["allreduce_exact"]) == (
        model,
        2,
        4,
        "yes",
    )
    assert m["latency_us"] == pytest.approx(1e6 * LINK.alpha_s, rel=1e-2)
    assert m["bandwidth_gb_per_s"] == pytest.approx(2, rel=1e-2)
    assert m["reduce_gb_per_s"] == pytest.approx(20, rel=1e-2)
    for name in ("latency_us", "bandwidth_gb_per_s", "reduce_gb_per_s"):
        assert m[f"{name}_low"] <= m[name] <= m[f"{name}_high"]
    right, wrong = (
        ("one_shared_link", "own_links")
        if kind == "cpu-virtual"
        else ("own_links", "one_shared_link")
    )
    assert m[f"{right}_fit_error_percent_max"] < 1
    assert m[f"{right}_4_ranks_error_percent_max"] < 1
    assert m[f"{wrong}_4_ranks_error_percent"] > 20


def test_buckets_rings_and_volumes_are_those_of_the_made_up_times():
    m = metrics("bench_collectives", measurements("bench_collectives", "cuda"), "cuda")
    size = 516_272
    per_tensor = 16 * 100e-6 + 2 * size / 2e9 + size / 20e9
    one_bucket = 2 * 100e-6 + 2 * size / 2e9 + size / 20e9
    assert m["lenet_bucket_speedup"] == pytest.approx(per_tensor / one_bucket, rel=1e-3)
    assert m["lenet_bucket_speedup_predicted"] == pytest.approx(per_tensor / one_bucket, rel=1e-2)
    star, ring = (
        6 * 100e-6 + 6 * 4e6 / 2e9 + 3 * 4e6 / 20e9,
        6 * 100e-6 + 1.5 * 4e6 / 2e9 + 0.75 * 4e6 / 20e9,
    )
    assert m["ring_over_star_speedup"] == pytest.approx(star / ring, rel=1e-3)
    assert m["bus_ring_4_ranks_gb_per_s"] == pytest.approx(1.5 * 4e6 / ring / 1e9, rel=1e-2)
    assert (m["sent_star_4_ranks_mb"], m["sent_ring_4_ranks_mb"], m["messages_tree_2_ranks"]) == (
        12.0,
        6.0,
        2,
    )


def test_one_wrong_sum_is_said():
    made = measurements("bench_collectives", "cpu-virtual")
    made.append(Measurement("exact, 3 ranks", "ring", 4, (0.0,), "", "cpu-virtual"))
    assert bench_collectives.summarise(made, 0)["allreduce_exact"] == "no"


def test_few_ranks_alone_give_no_prediction_but_a_page(tmp_path):
    made = [m for m in measurements("bench_collectives", "cpu-virtual") if "4 ranks" not in m.demo]
    made = [m for m in made if "resnet18" not in (m.arm, m.demo.partition(",")[0])]
    m = metrics("bench_collectives", made, "cpu-virtual")
    assert not [name for name in m if "4_ranks" in name or "resnet18" in name]
    write_rows(tmp_path, rows_of(made))
    write_metrics(tmp_path, m)
    part = collectives_section.section(tmp_path)
    draw(part, tmp_path / "figures")
    assert not any("foretells" in finding or "ResNet" in finding for finding in part.findings)


def test_every_job_of_more_ranks_is_a_single_message():
    p = CollectiveParams(rounds=8, world_sizes=[2, 4], message_bytes=[4, 400], nets=["lenet"])
    jobs = bench_collectives.jobs_of(p, {2: "2 ranks", 4: "4 ranks"}, aa_runs=3)
    assert [len(job.lengths) for _, _, job in jobs if job.world_size == 4] == [1] * 2 * 5
    assert sum(demo == bench.A_AGAINST_A for demo, _, _ in jobs) == 6
    [lenet] = {job.lengths for demo, _, job in jobs if demo.startswith("lenet")}
    assert (len(lenet), 4 * sum(lenet)) == (8, 516_272)
    resnet = bench_collectives.gradient_lengths("resnet18")
    told = collectives_section.RESNET_TENSORS, collectives_section.RESNET_BYTES
    assert (len(resnet), 4 * sum(resnet)) == told
