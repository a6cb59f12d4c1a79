import json
import shutil
import subprocess

import pytest

from lab.core.errors import DataError, MachineError, ParamsError
from lab.core.files import write_json, write_rows
from lab.tools import compare, references
from lab.tools.compare import Value, mark, markdown, rows_of, speed_of, speeds, value_of
from tests.helpers import edit_params, hardware


@pytest.mark.parametrize(
    ("name", "old", "new", "old_iqr", "new_iqr", "expected"),
    [
        ("epoch_s", 10.0, 10.5, 0.5, 0.5, "within noise"),
        ("epoch_s", 10.0, 13.0, 0.5, 0.5, "worse"),
        ("images_per_s", 10.0, 13.0, 0.5, 0.5, "better"),
        ("copy_gb_per_s", 13.0, 10.0, 0.5, 0.5, "worse"),
        ("lenet_fp32_speedup", 2.0, 2.5, 0.1, 0.1, "better"),
        ("book_claims", 2.0, 2.5, 0.1, 0.1, "changed"),
        ("epoch_s", 10.0, 10.1, 0.001, 0.001, "within noise"),  # under two percent
        ("epoch_s", 10.0, 12.0, 0.6, 0.6, "within noise"),  # under three spreads
        # what varies and has no interval on both sides is not judged
        ("epoch_s", 10.0, 20.0, 0.5, 0.0, "no interval"),
        ("test_accuracy_percent", 83.11, 93.12, 0, 0, "no interval"),
        ("train_loss", 0.5, 0.1, 0, 0, "no interval"),
        ("size", 64, 128, 0, 0, "changed"),
        ("weights_sha256", "abc", "abd", 0, 0, "changed"),
        ("break_even_calls", "never", 1000, 0, 0, "changed"),
    ],
)
def test_a_change_is_marked_for_what_it_is(name, old, new, old_iqr, new_iqr, expected):
    sides = {name: old, f"{name}_iqr": old_iqr}, {name: new, f"{name}_iqr": new_iqr}
    assert mark(name, *(value_of(name, metrics) for metrics in sides)) == expected


def test_rows_show_medians_with_their_spread_and_leave_out_what_is_the_same():
    old = {
        **{"epoch_s": 10.0, "epoch_s_iqr": 0.5, "images_per_s": 38.0, "images_per_s_iqr": 0.0},
        **{"test_accuracy_percent": 83.0, "dataset": "fashion-mnist", "gone": 3},
        **{"a_speedup": 1.7, "a_speedup_low": 1.6, "a_speedup_high": 1.8},
        **{"b_speedup": 1.7, "b_speedup_low": 1.62, "b_speedup_high": 1.8},
    }
    new = {
        **{"epoch_s": 20.0, "epoch_s_iqr": 0.25, "images_per_s": 33.0, "images_per_s_iqr": 0.0},
        **{"test_accuracy_percent": 83.0, "dataset": "synthetic", "come": 4},
        **{"a_speedup": 1.5, "a_speedup_low": 1.4, "a_speedup_high": 1.68},
        **{"b_speedup": 1.5, "b_speedup_low": 1.4, "b_speedup_high": 1.65},
    }
    assert [row[1:5] for row in rows_of("a", old, new, other_hardware=False)] == [
        ("epoch_s", "10 (IQR 0.5)", "20 (IQR 0.25)", "worse"),
        ("images_per_s", "38", "33", "no interval"),
        ("dataset", "fashion-mnist", "synthetic", "changed"),
        ("gone", "3", "-", "gone"),
        ("a_speedup", "1.7 (1.6 to 1.8)", "1.5 (1.4 to 1.68)", "within noise"),
        ("b_speedup", "1.7 (1.62 to 1.8)", "1.5 (1.4 to 1.65)", "worse"),
        ("come", "-", "4", "new"),
    ]
    marks = {row.mark for row in rows_of("a", old, new, other_hardware=True)}
    assert marks == {"other hardware", "new", "gone"}


def test_a_time_or_rate_is_judged_by_what_the_machine_itself_explains():
    faster = (1.2, 1.4)
    for name, new, expected in (
        ("epoch_s", 10.8, "the machine's"),
        ("epoch_s", 8.4, "better"),
        ("epoch_s", 12.9, "worse"),
        ("images_per_s", 18.0, "the machine's"),
        ("images_per_s", 21.0, "better"),
        ("images_per_s", 15.0, "worse"),
        ("a_speedup", 18.0, "better"),
    ):
        sides = (Value(n, 0.3, 0.3, "a spread") for n in (14.0, new))
        assert mark(name, *sides, faster) == expected, (name, new)


def test_a_slow_and_a_fast_hour_of_one_machine_give_no_verdict_on_the_same_code():
    """The two runs of the review: 13.8 and 10.8 s per epoch, equal hardware facts."""
    names = ("product_gflops_before", "product_gflops_after", "copy_gbs_before", "copy_gbs_after")
    old = {"epoch_s": 13.8, "epoch_s_iqr": 0.3} | dict(zip(names, (150, 155, 8, 8), strict=True))
    new = {"epoch_s": 10.8, "epoch_s_iqr": 0.2} | dict(zip(names, (190, 195, 10, 10), strict=True))
    assert speed_of(old, new) == pytest.approx((190 / 155, 1.3))
    assert [row.mark for row in rows_of("a", old, new, False)] == ["the machine's"]
    assert speeds({"a": old}, {"a": new}) == [
        "the machine itself: product 152.5 -> 192.5 GFLOP/s, copy 8 -> 10 GB/s"
    ]
    assert speeds({"a": old}, {"a": dict(old)}) == [], "which was measured once"
    del old["copy_gbs_after"], old["product_gflops_before"]
    assert speed_of(old, new) == (1.0, 1.0)


@pytest.mark.parametrize("busy", [(93.0, 1.0), (1.0, 93.0)])
def test_times_of_a_busy_machine_are_neither_better_nor_worse(busy):
    old, new = (
        {"busy_percent": percent, "a_speedup": n, "a_speedup_low": n - 0.1, "a_speedup_high": n}
        for percent, n in zip(busy, (2.0, 1.0), strict=True)
    )
    marks = {row.metric: row.mark for row in rows_of("bench", old, new, False)}
    assert marks["a_speedup"] == "busy machine"


def test_markdown_holds_text_and_nothing_of_its_own():
    hostile = "<script>a()</script> [x](javascript:a) `b` ![c](d)\n| e | \\"
    [*_, row] = markdown([("a", "b"), (hostile, "0.1 -> 0.05")])
    assert row == (
        r"| &lt;script>a()&lt;/script> \[x\](javascript:a) \`b\` !\[c\](d) \| e \| \\ "
        "| 0.1 -> 0.05 |"
    )


VERDICTS = {"A6a": "refuted", "B1": "refuted", "B2": "inconclusive", "C2": "confirmed"}


def write_verdicts(project, **verdicts):
    rows = [{"id": name, "verdict": found} for name, found in verdicts.items()]
    write_rows(project / "reports" / "claims", rows)


@pytest.fixture
def results(project):
    write_json(project / "reports" / "hardware.json", hardware("this"))
    run = project / "reports" / "train" / "one"
    write_json(run / "metrics.json", {"epoch_s": 2.0})
    write_json(run / "conditions.json", {"epoch_s_iqr": 0.1})
    write_json(project / "reports" / "claims" / "metrics.json", {"confirmed": 1, "refuted": 2})
    write_verdicts(project, **VERDICTS)
    return project


def printed(capsys, monkeypatch, *words):
    monkeypatch.setattr("sys.argv", ["compare", *words])
    compare.main()
    return capsys.readouterr().out.splitlines()


def test_a_strangers_reference_does_not_control_the_terminal(results, monkeypatch, capsys):
    path = references.snapshot("mine")
    document = json.loads(path.read_text()) | {"profile": "\x1b[31mred"}
    path.write_text(json.dumps(document))
    [line] = printed(capsys, monkeypatch, "--reference", "mine")
    assert "\x1b" not in line
    assert "\\x1b[31mred" in line


def test_a_snapshot_is_what_later_results_are_compared_with(results, monkeypatch, capsys):
    path = references.snapshot("before")
    document = json.loads(path.read_text())
    assert (document["name"], document["profile"]) == ("before", "laptop")
    assert document["stages"]["train/one"]["metrics"] == {"epoch_s": 2.0, "epoch_s_iqr": 0.1}
    words = ("--reference", "before")
    assert printed(capsys, monkeypatch, *words) == ["before was measured with the profile laptop"]
    write_json(results / "reports" / "train" / "one" / "metrics.json", {"epoch_s": 1.0})
    write_json(results / "reports" / "claims" / "metrics.json", {"confirmed": 2, "refuted": 1})
    write_verdicts(results, **VERDICTS | {"B2": "confirmed", "B1": "confirmed", "D1": "refuted"})
    _, verdicts, _, *rows = printed(capsys, monkeypatch, *words)
    assert verdicts == "verdicts: B1: refuted -> confirmed, B2: inconclusive -> confirmed"
    assert [row.split() for row in rows] == [
        ["train/one", "epoch_s", "2", "(IQR", "0.1)", "1", "(IQR", "0.1)", "better"],
        ["claims", "confirmed", "1", "2", "changed"],
        ["claims", "refuted", "2", "1", "changed"],
    ]
    write_json(results / "reports" / "hardware.json", hardware("that"))
    _, facts, elsewhere, _, _, *rows = printed(capsys, monkeypatch, *words)
    assert "cpu.model: this -> that" in facts
    assert "claims, train/one" in elsewhere
    assert all(row.endswith("other hardware") for row in rows)


def commit(project):
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
    for words in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "results"]):
        subprocess.run(["git", *words], cwd=project, check=True)


def test_each_result_is_compared_by_its_own_machine(results):
    """One stage was measured here after a commit with another machine's results."""
    reports = results / "reports"
    conditions = {"wait_ms_iqr": 0.1, "machine": hardware("this")}
    for stage in ("bench_async", "bench_parallel"):
        write_json(reports / stage / "metrics.json", {"wait_ms": 2.0})
        write_json(reports / stage / "conditions.json", conditions)
    commit(results)
    write_json(reports / "hardware.json", hardware("that"))
    for stage in ("bench_async", "bench_parallel"):
        write_json(reports / stage / "metrics.json", {"wait_ms": 1.0})
    that = conditions | {"machine": hardware("that")}
    write_json(reports / "bench_parallel" / "conditions.json", that)
    edit_params({"seed": 7})
    lines, rows = compare.compare(compare.side_of_commit("HEAD"), compare.side_in(results))
    assert lines[0] == "params.yaml: seed: 0 -> 7"
    assert [(row.folder, row.mark) for row in rows] == [
        ("bench_async", "better"),
        ("bench_parallel", "other hardware"),
    ]
    assert [line for line in lines if "bench_parallel" in line]
    assert not [line for line in lines if "bench_async" in line]


def test_git_that_does_not_work_says_why_itself(results, monkeypatch):
    commit(results)
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")  # git's own
    with pytest.raises(MachineError, match="git config --global --add safe"):
        compare.side_of_commit("HEAD")
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    with pytest.raises(MachineError, match="not a git repository"):
        compare.side_of_commit("HEAD")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(MachineError, match="git is not installed"):
        compare.side_of_commit("HEAD")


def test_what_counts_most_stands_in_25_lines_and_all_in_as_many_as_it_takes(
    results, monkeypatch, capsys
):
    reports = results / "reports"

    def write(factor):
        for i in range(40):
            run = reports / "train" / f"run{i}"
            times = {"epoch_s": 2.0 * factor ** (1 + i) if i < 5 else 2.0 + factor / 1000}
            write_json(run / "metrics.json", times | {"test_accuracy_percent": 80 + factor})
            write_json(run / "conditions.json", {"epoch_s_iqr": 0.01, "batch_size": factor})
        edit_params({f"train.runs.run{i}": {"lr": factor} for i in range(40)})
        write_verdicts(results, **{f"A{i}": f"verdict {factor}" for i in range(40)})
        write_json(reports / "hardware.json", hardware("this"))

    write(1)
    commit(results)
    write(2)
    for words in ((), ("--md",)):
        lines = printed(capsys, monkeypatch, *words)
        assert len(lines) == 25
        found = [line for line in lines if "worse" in line]
        assert "run4 " in found[0], "the largest comes first"
        assert "besides: " in lines[-1]
        assert "40 of conditions" in lines[-1]
        assert any("seed" in line for line in lines), "accuracies differ"
    everything = printed(capsys, monkeypatch, "--all")
    assert sum("batch_size" in line for line in everything) == 40
    assert sum("params.yaml: " in line for line in everything) == 40


def test_a_reference_that_is_not_there_is_said_with_those_that_are(results):
    references.snapshot("mine")
    with pytest.raises(ParamsError, match=r"no such reference; known: mine"):
        compare.side_of_reference("yours")
    shutil.rmtree(results / "reports" / "train")
    shutil.rmtree(results / "reports" / "claims")
    with pytest.raises(DataError, match="no results to keep yet; run `invoke repro` first"):
        references.snapshot("empty")


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
            compare.side_of_reference("my.Machine_1")
        assert str(refused.value).startswith(f"{path}: damaged ("), how
        assert str(refused.value).endswith(
            f"; `git checkout {path}` brings it back if it is committed, else delete it"
        ), how


def test_damaged_results_are_said_whether_compared_or_kept(results):
    references.snapshot("mine")
    hardware_file = results / "reports" / "hardware.json"
    for file, content, complaint in (
        (results / "reports" / "train" / "one" / "metrics.json", '{"epoch_s": [2]}', "epoch_s"),
        (results / "reports" / "claims" / "metrics.json", '{"refuted": "A', "Unterminated"),
        (hardware_file, "{}", "accelerator: field required"),
    ):
        whole = file.read_bytes()
        file.write_text(content)
        for read in (compare.side_in, lambda _: references.snapshot("mine")):
            with pytest.raises(DataError, match=rf"json: damaged \({complaint}"):
                read(results)
        file.write_bytes(whole)
