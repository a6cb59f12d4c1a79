"""What the benchmark stages derive from their samples, and what the page says of it, on a CPU and
on a GPU.
"""

import importlib
import re
from dataclasses import replace

import pytest

from lab.core.files import write_metrics, write_rows
from lab.parallel.cost_model import allreduce_s
from lab.report import benchmarks
from lab.report.language import speaking
from lab.results.measurements import Measurement, rows_of
from lab.timing import bench
from stages.bench_collectives import __main__ as bench_collectives
from stages.bench_collectives import section as collectives_section
from stages.bench_collectives.params import CollectiveParams
from stages.bench_compile import __main__ as bench_compile
from stages.bench_hardware import __main__ as bench_hardware
from stages.bench_hardware import section as hardware_section
from stages.bench_overlap import __main__ as bench_overlap
from stages.bench_overlap import overlap
from stages.bench_parallel import __main__ as bench_parallel
from stages.bench_training import __main__ as bench_training
from stages.bench_training.params import TrainingParams
from stages.report import catalogue
from tests import made_up
from tests.helpers import draw
from tests.made_up import BENCHES, LINK, measurements, metrics, one, write


@pytest.mark.parametrize("stage", BENCHES)
def test_every_row_says_what_it_was_measured_on(stage):
    for row in rows_of(measurements(stage, "cpu-virtual")):
        assert row["device_kind"] in ("cpu-virtual", "cpu", "simulated")
        assert (row["value"] == "") == str(row["remark"]).startswith("skipped: ")


@pytest.mark.parametrize("stage", BENCHES)
def test_metrics_have_names_that_dvc_keeps_and_a_noise_control(stage):
    found = metrics(stage, measurements(stage, "cpu-virtual"), "cpu-virtual")
    assert all(re.fullmatch(r"[a-z0-9_]+", name) for name in found)
    assert (found["aa_runs"], found["aa_false_speedups"], found["device_kind"]) == (
        1,
        0,
        "cpu-virtual",
    )


@pytest.mark.parametrize("kind", ["cpu-virtual", "cuda"])
@pytest.mark.parametrize("stage", BENCHES)
def test_the_page_of_each_kind_of_machine(stage, kind, tmp_path):
    write(stage, tmp_path, kind)
    part = importlib.import_module(f"stages.{stage}.section").section(tmp_path / stage)
    draw(part, tmp_path / "figures")
    assert part.stage == stage
    drawn = sorted(path.stem for path in (tmp_path / "figures").iterdir())
    assert drawn == sorted(figure.name for figure in part.figures)
    text = " ".join(part.findings)
    assert "nan" not in text.lower()
    assert "None" not in text
    assert ("virtual" in text) == (kind == "cpu-virtual"), (
        "a GPU's page speaks of no virtual devices"
    )
    for table in part.tables:
        assert all(len(row) == len(table.header) for row in table.rows)
    hatched = (tmp_path / "figures" / f"{part.figures[0].name}.svg").read_text().count("<pattern")
    if stage == "bench_collectives":
        hatched = (tmp_path / "figures" / "allreduce_gradients.svg").read_text().count("<pattern")
    if stage in ("bench_parallel", "bench_overlap", "bench_collectives"):
        assert (hatched > 0) == (kind == "cpu-virtual")


@pytest.mark.parametrize("kind", ["cpu-virtual", "cuda"])
@pytest.mark.parametrize("stage", BENCHES)
def test_the_page_speaks_chinese_throughout(stage, kind, tmp_path):
    write(stage, tmp_path, kind)
    with speaking("zh", catalogue.read("zh")):
        part = importlib.import_module(f"stages.{stage}.section").section(tmp_path / stage)
    assert part.try_this
    sentences = [part.title, part.question, *part.findings, part.try_this.why]
    sentences += [text for figure in part.figures for text in (figure.alt, figure.caption)]
    sentences += [table.note for table in part.tables]
    assert [text for text in sentences if not re.search("[\u4e00-\u9fff]", text)] == []


# --- bench_compile
# ----------------------------------------------------------------------------------------------


def test_compiling_pays_after_its_seconds_over_what_a_call_saves():
    m = metrics("bench_compile", measurements("bench_compile", "cuda"), "cuda")
    build, saved = (
        3.5 + 1000e-6 * 0,
        (36 - 12) * 1e-6,
    )  # AOTInductor: 7th form, 40 - 4 * 7 us against 36
    assert m["aotinductor_break_even_calls"] == pytest.approx(build / saved, rel=1e-2)
    assert m["aotinductor_speedup"] == pytest.approx(3, rel=1e-2)
    assert m["forms_equal_eager"] == "yes"


def test_a_form_that_is_not_faster_never_pays():
    made = [
        one("call", name, t, "cpu-virtual", 1, "us")
        for name, t in ((bench_compile.compiled.INFERENCE, 40), (bench_compile.compiled.AOT, 50))
    ]
    made.append(Measurement("build", bench_compile.compiled.AOT, 0, (5.0,), "s", "cpu-virtual"))
    made.append(
        Measurement("difference", bench_compile.compiled.AOT, 1, (0.5,), "logit", "cpu-virtual")
    )
    m = bench_compile.summarise(made, 1)
    assert m["aotinductor_break_even_calls"] == "never"
    assert m["forms_equal_eager"] == "no"


# --- bench_async
# ------------------------------------------------------------------------------------------------


def test_a_queue_shows_as_a_call_that_returns_early():
    on_gpu, on_cpu = (
        metrics("bench_async", measurements("bench_async", kind), kind)
        for kind in ("cuda", "cpu-virtual")
    )
    assert on_gpu["return_over_finish"] == pytest.approx(0.01)
    assert on_cpu["return_over_finish"] == pytest.approx(1)
    assert on_gpu["book_claims"] == pytest.approx(200)
    assert on_gpu["book_waited_for"] == on_cpu["book_waited_for"] == pytest.approx(2)
    assert on_cpu["waiting_after_each_us_per_operation"] == pytest.approx(3, rel=1e-2)
    assert on_cpu["item_costs_us"] == pytest.approx(3, rel=1e-2)


# --- bench_parallel
# ---------------------------------------------------------------------------------------------


def test_the_speedup_is_that_of_together_over_one_after_the_other():
    m = metrics("bench_parallel", measurements("bench_parallel", "cpu-virtual"), "cpu-virtual")
    assert (m["speedup"], m["speedup_bound"], m["size"]) == (1.6, 2.0, 400)
    assert m["first_gflop_per_s"] == pytest.approx(2 * 50 * 400**3 / 50e-3 / 1e9, rel=1e-2)


# --- bench_overlap
# ----------------------------------------------------------------------------------------------


def test_each_way_is_held_against_its_own_parts_and_the_books_comparison_is_marked_wrong():
    made = measurements("bench_overlap", "cuda")
    found = {m.arm: m for m in made if m.demo == "overlap"}
    assert found[overlap.ONE_STREAM].summary.median == pytest.approx(0, abs=1e-2)
    assert found[overlap.TWO_STREAMS].summary.median == pytest.approx(0.9, abs=1e-2)
    assert found[overlap.BOOK].remark == found[overlap.TWO_STREAMS].remark == ""
    assert found[overlap.AS_THE_BOOK].summary.median == pytest.approx(3.5, abs=1e-2), (
        "(40 + 200 - 100) / 40"
    )
    assert found[overlap.AS_THE_BOOK].remark.startswith("wrong: ")
    m = metrics("bench_overlap", made, "cuda")
    assert (m["best_way"], m["wrong_fractions"]) == (overlap.TWO_STREAMS, 1)
    assert m["overlap_fraction"] == pytest.approx(0.9, abs=1e-2)


def test_the_books_printed_times_are_marked_wrong():
    times = {
        overlap.COMPUTE: 0.5010,
        overlap.PAGEABLE_COPIES: 2.3848,
        overlap.BOOK_COPIES: 2.0,
        overlap.BOOK: 2.1558,
    }
    made = [Measurement("seconds", name, 0, (t,) * 12, "s", "cuda") for name, t in times.items()]
    [own, printed] = bench_overlap.fractions(made)
    assert own.remark == ""
    assert printed.values[0] == pytest.approx(1.457, abs=1e-3)
    assert printed.remark == "wrong: outside [0, 1], so this is no overlap"


def test_a_machine_without_a_gpu_skips_the_gpus_ways_with_a_reason():
    made = measurements("bench_overlap", "cpu-virtual")
    m = metrics("bench_overlap", made, "cpu-virtual")
    assert (m["best_way"], m["skipped"]) == (overlap.BESIDE, len(overlap.ONLY_CUDA))


def test_a_fraction_that_noise_takes_over_a_bound_is_not_called_wrong():
    times = {
        overlap.COMPUTE: (40.0,) * 12,
        overlap.COPIES: (40.0,) * 12,
        overlap.IN_TURN: (79.0, 81.0) * 6,
    }
    made = [Measurement("seconds", n, 0, t, "ms", "cpu-virtual") for n, t in times.items()]
    [fraction] = bench_overlap.fractions(made)
    assert fraction.remark == ""
    assert min(fraction.values) < 0 < max(fraction.values)


# --- bench_hardware
# ---------------------------------------------------------------------------------------------


def test_a_processors_numbers_never_stand_under_a_gpus_name():
    m = metrics("bench_hardware", measurements("bench_hardware", "cuda"), "cuda")
    assert m["peak_float32_1_threads_gflop_per_s"] == pytest.approx(100, rel=1e-2)
    assert m["peak_float32_gpu_gflop_per_s"] == pytest.approx(50_000, rel=1e-2)
    assert m["copy_1_threads_gb_per_s"] == pytest.approx(20, rel=1e-2)
    assert m["copy_gpu_gb_per_s"] == pytest.approx(3000, rel=1e-2)


def test_a_gpus_peak_is_no_step_of_how_the_processor_scales(tmp_path):
    both_cores = replace(one("peak", "float32", 180, "cpu", 2, "GFLOP/s"), threads=2)
    made = [*measurements("bench_hardware", "cuda"), both_cores]
    write_rows(tmp_path, rows_of(made))
    write_metrics(tmp_path, metrics("bench_hardware", made, "cuda"))
    [scaling] = [text for text in hardware_section.section(tmp_path).findings if "scale" in text]
    assert "from 100 GFLOP/s on 1 thread to 180 on 2: 1.80 times" in scaling


def test_the_engine_is_held_against_the_notes_faster_way_and_the_peak_of_the_same_round():
    m = metrics("bench_training", measurements("bench_training", "cpu-virtual"), "cpu-virtual")
    assert m["lenet_notes_faster_way"] == bench_training.NO_WORKERS
    assert (m["lenet_fp32_speedup"], m["lenet_bf16_speedup"], m["lenet_2workers_speedup"]) == (
        3.0,
        4.5,
        1.5,
    )
    assert (m["resnet18_fp32_speedup"], m["resnet18_bf16_speedup"]) == (1.125, 2.0)
    peak = 2 * 1024**3 / 10e-3
    assert m["lenet_fp32_of_peak"] == pytest.approx(13.26e6 * 256 / 30e-3 / peak, rel=1e-3)
    assert m["resnet18_fp32_of_peak"] == pytest.approx(2.734e9 * 32 / 800e-3 / peak, rel=1e-3)
    assert m["lenet_engine_epoch_s"] == pytest.approx(235 * 0.030, rel=1e-3)


def test_workers_of_a_race_have_equal_threads_and_ways_of_one_process_all_cores():
    params = TrainingParams(
        rounds=8,
        heats=1,
        lenet_batch_size=256,
        lenet_steps=5,
        resnet_batch_size=32,
        resnet_steps=1,
        compile=True,
    )
    races = bench_training.contestants(params, "cpu", cores=8, share=4, compiled=True)
    lenet = races["lenet"]
    assert (lenet[bench_training.ONE].threads, lenet[bench_training.TWO].threads) == (4, 4)
    assert (lenet[bench_training.ONE].num_devices, lenet[bench_training.TWO].num_devices) == (1, 2)
    alone = [way for ways in races.values() for way in ways.values() if way.kind != "ddp"]
    assert {way.threads for way in alone} == {8}
    assert {name for name, way in lenet.items() if way.precision == "bf16"} == {bench_training.BF16}
    assert {name for name, way in lenet.items() if way.compile_mode != "none"} == {
        bench_training.COMPILED
    }
    on_gpu = bench_training.contestants(params, "cuda", cores=8, share=4, compiled=False)[
        "resnet18"
    ]
    assert on_gpu[bench_training.TF32].precision == "tf32"
    assert bench_training.COMPILED not in on_gpu


# --- bench_collectives
# ------------------------------------------------------------------------------------------


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


# --- scaling
# ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "link"), [("cpu-virtual", "shared by all ranks"), ("cuda", "each rank's own")]
)
def test_parts_that_follow_the_model_foretell_steps_that_do_so_too(kind, link):
    m = metrics("scaling", measurements("scaling", kind), kind)
    assert (m["link"], m["heldout_configurations"], m["replicas_stay_equal"]) == (link, 12, "yes")
    assert m["latency_us"] == pytest.approx(100, rel=1e-3)
    assert m["lenet_us_per_image"] == pytest.approx(200, rel=1e-3)
    assert m["ring_wait_ms"] == pytest.approx(0.5, rel=1e-2)
    summed_ms = 1e3 * allreduce_s("star", 2, 8, 516_272, made_up.LINK, kind != "cuda")
    assert m["lenet_star_per_tensor_t2_ms"] == pytest.approx(made_up.LATE + summed_ms, rel=1e-2), (
        "eight tensors"
    )
    assert m["mean_error_percent"] == pytest.approx(100 * (1 - 1 / 1.05), abs=0.05), (
        "samples lie 0.025 % too low"
    )
    assert m["max_rule_mean_error_percent"] > m["mean_error_percent"], "the steps do not overlap"
    crossing = m["lenet_star_per_tensor_crossing_batch"]
    assert crossing == pytest.approx(2 * (m["lenet_star_per_tensor_t2_ms"] - 1) / 0.2, rel=1e-2)


def test_what_is_simulated_is_not_said_to_be_measured():
    made = measurements("scaling", "cpu-virtual")
    told = [m for m in made if m.demo.startswith(("strong", "weak"))]
    assert {m.device_kind for m in told} == {"simulated"}
    assert all(m.device_kind != "simulated" for m in made if m not in told)
    assert max(m.x for m in told) == 1024


def test_the_noise_of_one_arm_against_itself_is_not_among_the_results():
    made = [m for m in measurements("bench_parallel", "cpu-virtual") if m.demo != bench.A_AGAINST_A]
    assert bench_parallel.summarise(made, 50) == bench_parallel.summarise(
        measurements("bench_parallel", "cpu-virtual"), 50
    )
    assert bench_hardware.summarise([]) == {}


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (1.03, 2, "faster than"),
        (1.01, 2, "not measurably different from"),
        (0.5, 0.97, "slower than"),
    ],
)
def test_the_page_claims_what_the_interval_allows(low, high, words):
    assert (
        benchmarks.verdict(
            {"speedup": (low + high) / 2, "speedup_low": low, "speedup_high": high}, "speedup"
        )
        == words
    )
