import json
import shutil
import subprocess

import pytest

from lab.core.errors import DataError, ParamsError
from lab.core.files import write_json
from lab.tools import compare, references
from lab.tools.compare import MachineSpeed, Value, mark, markdown, speed_of, speeds, table, value_of
from tests.helpers import edit_params, hardware


@pytest.mark.parametrize(
    ("name", "old", "new", "old_iqr", "new_iqr", "other_hardware", "expected"),
    [
        ("epoch_s", 10.0, 10.0, 1.0, 1.0, True, "same"),
        ("epoch_s", None, 3, 0, 0, False, "new"),
        ("epoch_s", 3, None, 0, 0, True, "gone"),
        ("epoch_s", 10.0, 10.5, 0.5, 0.5, False, "within noise"),
        ("epoch_s", 10.0, 13.0, 0.5, 0.5, False, "worse"),
        ("images_per_s", 10.0, 13.0, 0.5, 0.5, False, "better"),
        ("copy_gb_per_s", 13.0, 10.0, 0.5, 0.5, False, "worse"),
        ("lenet_fp32_speedup", 2.0, 2.5, 0.1, 0.1, False, "better"),
        ("train_loss", 0.5, 0.4, 0, 0, False, "better"),
        ("size", 64, 128, 0, 0, False, "changed"),
        ("epoch_s", 10.0, 10.1, 0.001, 0.0, False, "within noise"),  # under two percent
        ("epoch_s", 10.0, 12.0, 0.6, 0.6, False, "within noise"),  # under three spreads
        # exact metrics have no noise
        ("test_accuracy_percent", 83.11, 83.12, 0, 0, False, "better"),
        ("weights_sha256", "abc", "abd", 0, 0, False, "changed"),
        ("break_even_calls", "never", 1000, 0, 0, False, "changed"),
        ("epoch_s", 10.0, 99.0, 0.5, 0.5, True, "other hardware"),
    ],
)
def test_a_change_is_marked_for_what_it_is(
    name, old, new, old_iqr, new_iqr, other_hardware, expected
):
    changes = {name: {"old": old, "new": new}, f"{name}_iqr": {"old": old_iqr, "new": new_iqr}}
    sides = [value_of(name, changes, side) for side in ("old", "new")]
    assert mark(name, *sides, other_hardware) == expected


def test_a_ratio_has_changed_from_two_percent_on():
    old = Value(2.0, 0.001, 0.001)
    assert mark("a_speedup", old, Value(2.03, 0.001, 0.001), False) == "within noise"
    assert mark("a_speedup", old, Value(2.05, 0.001, 0.001), False) == "better"


def test_the_table_shows_medians_with_their_spread_and_leaves_out_what_is_the_same():
    metrics = {
        "reports/train/a/metrics.json": {
            "epoch_s": {"old": 10.0, "new": 20.0, "diff": 10.0},
            "epoch_s_iqr": {"old": 0.5, "new": 0.25, "diff": -0.25},
            "images_per_s": {"old": 38.0, "new": 33.0, "diff": -5.0},
            "images_per_s_iqr": {"old": 0.0, "new": 0.0, "diff": 0.0},
            "test_accuracy_percent": {"old": 83.0, "new": 83.0, "diff": 0},
            "dataset": {"old": "fashion-mnist", "new": "synthetic"},
            "a_speedup": {"old": 1.7, "new": 1.5},
            "a_speedup_low": {"old": 1.6, "new": 1.4},
            "a_speedup_high": {"old": 1.8, "new": 1.68},
            "b_speedup": {"old": 1.7, "new": 1.5},
            "b_speedup_low": {"old": 1.62, "new": 1.4},
            "b_speedup_high": {"old": 1.8, "new": 1.65},
        }
    }
    assert [row[1:] for row in table(metrics, other_hardware=())] == [
        ("epoch_s", "10 (IQR 0.5)", "20 (IQR 0.25)", "worse"),
        ("images_per_s", "38", "33", "one sample each"),
        ("dataset", "fashion-mnist", "synthetic", "changed"),
        ("a_speedup", "1.7 (1.6 to 1.8)", "1.5 (1.4 to 1.68)", "within noise"),
        ("b_speedup", "1.7 (1.62 to 1.8)", "1.5 (1.4 to 1.65)", "worse"),
    ]


def test_a_time_or_rate_is_judged_by_what_the_machine_itself_explains():
    faster = MachineSpeed(1.2, 1.4)
    for name, new, expected in (
        ("epoch_s", 10.8, "the machine's"),
        ("epoch_s", 8.4, "better"),
        ("epoch_s", 12.9, "worse"),
        ("images_per_s", 18.0, "the machine's"),
        ("images_per_s", 21.0, "better"),
        ("images_per_s", 15.0, "worse"),
        ("a_speedup", 18.0, "better"),
    ):
        assert mark(name, Value(14.0, 0.3, 0.3), Value(new, 0.3, 0.3), False, faster) == expected, (
            name,
            new,
        )


def test_a_slow_and_a_fast_hour_of_one_machine_give_no_verdict_on_the_same_code():
    """The two runs of the review: 13.8 and 10.8 s per epoch, equal hardware facts."""
    metrics = {
        "reports/train/lenet_1gpu/metrics.json": {
            "epoch_s": {"old": 13.8, "new": 10.8},
            "epoch_s_iqr": {"old": 0.3, "new": 0.2},
            "product_gflops_before": {"old": 150.0, "new": 190.0},
            "product_gflops_after": {"old": 155.0, "new": 195.0},
            "copy_gbs_before": {"old": 8.0, "new": 10.0},
            "copy_gbs_after": {"old": 8.0, "new": 10.0},
        }
    }
    [changes] = metrics.values()
    speed = speed_of(changes)
    assert (speed.low, speed.high) == pytest.approx((190 / 155, 1.3))
    assert [row[-1] for row in table(metrics, other_hardware=())] == ["the machine's"]
    assert speeds(metrics) == [
        "the machine itself: product 152.5 -> 192.5 GFLOP/s, copy 8 -> 10 GB/s"
    ]
    del changes["copy_gbs_after"]["old"]
    assert speed_of({"epoch_s": {"old": 1, "new": 2}}) == MachineSpeed()


@pytest.mark.parametrize("side", ["old", "new"])
def test_times_of_a_busy_machine_are_neither_better_nor_worse(side):
    metrics = {
        "reports/bench/metrics.json": {
            "busy_percent": {"old": 1.0, "new": 1.0} | {side: 93.0},
            "a_speedup": {"old": 2.0, "new": 1.0},
            "a_speedup_low": {"old": 1.9, "new": 0.9},
            "a_speedup_high": {"old": 2.1, "new": 1.1},
            "test_accuracy_percent": {"old": 80.0, "new": 90.0},
        }
    }
    marks = {name: found for _, name, _, _, found in table(metrics, other_hardware=())}
    assert marks["a_speedup"] == "busy machine"
    assert marks["test_accuracy_percent"] == "better", "which no load changes"


def test_markdown_holds_text_and_nothing_of_its_own():
    hostile = "<script>a()</script> [x](javascript:a) `b` ![c](d)\n| e | \\"
    [*_, row] = markdown([("a", "b"), (hostile, "0.1 -> 0.05")])
    assert row == (
        r"| &lt;script>a()&lt;/script> \[x\](javascript:a) \`b\` !\[c\](d) \| e \| \\ "
        "| 0.1 -> 0.05 |"
    )


VERDICTS = {"refuted_ids": "A6a B1 B2", "confirmed_ids": "C2"}


@pytest.fixture
def results(project):
    write_json(project / "reports" / "hardware.json", hardware("this"))
    write_json(
        project / "reports" / "train" / "one" / "metrics.json", {"epoch_s": 2.0, "epoch_s_iqr": 0.1}
    )
    write_json(project / "reports" / "claims" / "metrics.json", VERDICTS)
    return project


def test_a_snapshot_of_own_params_names_no_profile(results):
    edit_params({"bench.starts": 3})
    references.snapshot("mine")
    assert compare.with_reference("mine")[0] == ["mine was measured with own params"]


def test_a_snapshot_is_what_later_results_are_compared_with(results):
    path = references.snapshot("before")
    document = json.loads(path.read_text())
    assert (document["name"], document["profile"]) == ("before", "laptop")
    assert document["stages"]["train/one"]["metrics"] == {"epoch_s": 2.0, "epoch_s_iqr": 0.1}
    assert compare.with_reference("before") == (["before was measured with the profile laptop"], [])
    write_json(
        results / "reports" / "train" / "one" / "metrics.json", {"epoch_s": 1.0, "epoch_s_iqr": 0.1}
    )
    changed = {"refuted_ids": "A6a B2", "confirmed_ids": "B1 C2"}
    write_json(results / "reports" / "claims" / "metrics.json", changed)
    _, rows = compare.with_reference("before")
    assert rows == [
        ("claims", "refuted_ids", "B1", "-", "changed"),
        ("claims", "confirmed_ids", "-", "B1", "changed"),
        ("train/one", "epoch_s", "2 (IQR 0.1)", "1 (IQR 0.1)", "better"),
    ]
    write_json(results / "reports" / "hardware.json", hardware("that"))
    lines, rows = compare.with_reference("before")
    assert "cpu.model: this -> that" in lines[1]
    assert "claims, train/one" in lines[2]
    assert {row[-1] for row in rows} == {"other hardware"}


def test_each_result_is_compared_by_its_own_machine(results, monkeypatch):
    """One stage was measured here after a commit with another machine's results."""
    reports = results / "reports"
    for stage in ("bench_async", "bench_parallel"):
        write_json(reports / stage / "metrics.json", {"wait_ms": 2.0, "wait_ms_iqr": 0.1})
        write_json(reports / stage / "conditions.json", {"machine": hardware("this")})
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
    for words in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "results"]):
        subprocess.run(["git", *words], cwd=results, check=True)
    write_json(reports / "hardware.json", hardware("that"))
    write_json(reports / "bench_parallel" / "conditions.json", {"machine": hardware("that")})
    changes = {"wait_ms": {"old": 2.0, "new": 1.0}, "wait_ms_iqr": {"old": 0.1, "new": 0.1}}
    diff = {f"reports/{s}/metrics.json": changes for s in ("bench_async", "bench_parallel")}
    monkeypatch.setattr(compare, "_dvc", lambda what, *_: diff if what == "metrics" else {})
    lines, rows = compare.with_commit("HEAD")
    assert [(row[0].split("/")[1], row[-1]) for row in rows] == [
        ("bench_async", "better"),
        ("bench_parallel", "other hardware"),
    ]
    assert [line for line in lines if "bench_parallel" in line]
    assert not [line for line in lines if "bench_async" in line]


def test_speed_is_told_only_of_what_was_measured_anew():
    once = {"product_gflops_before": {"old": 50.0, "new": 50.0}}
    assert not speeds({"a": {**once, "product_gflops_after": {"old": 51.0, "new": 51.0}}})


def test_a_reference_that_is_not_there_is_said_with_those_that_are(results):
    references.snapshot("mine")
    with pytest.raises(ParamsError, match=r"no such reference \(there are: mine\)"):
        compare.with_reference("yours")
    shutil.rmtree(results / "reports" / "train")
    shutil.rmtree(results / "reports" / "claims")
    with pytest.raises(DataError, match="no results to keep yet; run `invoke repro` first"):
        references.snapshot("empty")


@pytest.mark.parametrize("name", ["../train/one/metrics", "..", "", "/etc/passwd", "a" * 65, "-a"])
def test_a_reference_is_a_file_among_the_references(results, name):
    with pytest.raises(ParamsError, match="expected at most 64 letters, digits, _, - and"):
        compare.with_reference(name)


DAMAGED = {
    "half": lambda whole: "{",
    "empty": lambda whole: "{}",
    "no stages": lambda whole: {**whole, "stages": [1]},
    "a stage of text": lambda whole: {**whole, "stages": {"a": {"metrics": "x"}}},
    "a metric of metrics": lambda whole: {**whole, "stages": {"a": {"metrics": {"b": {}}}}},
    "no hardware": lambda whole: {**whole, "hardware": {}},
    "GPUs of another kind": lambda whole: {**whole, "hardware": {"accelerator": {"names": 3}}},
}


def test_a_damaged_reference_is_said_with_what_brings_it_back(results):
    path = references.snapshot("my.Machine_1")
    whole = json.loads(path.read_text())
    for how, damage in DAMAGED.items():
        content = damage(whole)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        with pytest.raises(DataError) as refused:
            compare.with_reference("my.Machine_1")
        assert str(refused.value).startswith(f"{path}: damaged ("), how
        assert str(refused.value).endswith(
            f"; `git checkout {path}` brings it back if it is committed, else delete it"
        ), how


def test_damaged_results_are_said_whether_compared_or_kept(results):
    references.snapshot("mine")
    hardware_file = results / "reports" / "hardware.json"
    for file, content, complaint in (
        (results / "reports" / "train" / "one" / "metrics.json", '{"epoch_s": [2]}', "epoch_s"),
        (results / "reports" / "claims" / "metrics.json", '{"refuted_ids": "A', "Unterminated"),
        (hardware_file, "{}", "accelerator: field required"),
    ):
        whole = file.read_bytes()
        file.write_text(content)
        for read in (compare.with_reference, references.snapshot, compare.with_commit):
            with pytest.raises(DataError, match=rf"json: damaged \({complaint}"):
                read("mine")
        file.write_bytes(whole)
