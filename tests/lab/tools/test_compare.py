import json
import shutil
import subprocess
from pathlib import Path

import pytest

from lab.core.errors import DataError, MachineError, ParamsError
from lab.core.files import write_json, write_rows
from lab.results.findings import Finding, Over
from lab.tools import compare, references, sides
from tests.helpers import edit_params, hardware, python
from tests.lab.tools.made_up import write_run

RECIPE = {"num_epochs": 3, "train_images": 60000, "test_images": 10000} | {
    "num_devices": 1,
    "device_kind": "cpu",
}


@pytest.fixture
def results(project):
    write_json(project / "reports" / "hardware.json", hardware("this"))
    write_run(project / "reports", "bench_overlap")
    return project


def printed(capsys, **how):
    capsys.readouterr()
    compare.show(**how)
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("md", "shown"), [(False, "\\x1b[31mred | <b>"), (True, r"\x1b\[31mred \| &lt;b>")]
)
def test_a_strangers_reference_controls_neither_terminal_nor_page(results, capsys, md, shown):
    references.snapshot("mine")
    path = references.path_of("mine")
    document = json.loads(path.read_text()) | {"profile": "\x1b[31mred | <b>"}
    path.write_text(json.dumps(document))
    [line] = printed(capsys, reference="mine", md=md)
    assert line.endswith(f"was measured with the profile {shown}")


def test_later_results_are_compared_with_a_snapshot(results, capsys):
    references.snapshot("before")
    path = Path(capsys.readouterr().out.strip())
    document = json.loads(path.read_text())
    assert (document["name"], document["profile"]) == ("before", "laptop")
    kept = document["stages"]["bench_overlap"]
    assert kept["findings"]["speedup"]["value"] == 2.0
    assert kept["findings"]["speedup"]["n"] == 8
    assert kept["conditions"] == {"device_kind": "cpu"}
    how = {"reference": "before"}
    assert printed(capsys, **how) == ["before was measured with the profile laptop"]
    write_run(results / "reports", "bench_overlap", 1.0, device_kind="cuda")
    _, settings, verdicts, _, *rows = printed(capsys, **how)
    assert settings == "data and devices: bench_overlap.device_kind: cpu -> cuda"
    assert verdicts == "verdicts: C4: not testable here -> refuted"
    [speedup, seconds] = rows
    assert speedup.split() == ["bench_overlap", "speedup", "2", "1", "worse"]
    assert "sequential_s" in seconds and seconds.endswith("better by 0.01 s (0.01 to 0.01)")
    write_json(results / "reports" / "hardware.json", hardware("that"))
    write_run(results / "reports", "bench_overlap", 1.0, machine=hardware("that"))
    _, facts, elsewhere, *_, note = printed(capsys, **how)
    assert "cpu.model: this -> that" in facts
    assert "bench_overlap" in elsewhere
    assert note == "besides: 2 other hardware (`--all` shows them)"


def commit(project):
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
    for words in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "results"]):
        subprocess.run(["git", *words], cwd=project, check=True)


def test_each_result_is_compared_by_its_own_machine(results):
    """After the commit, one of two stages was measured on a different machine."""
    reports = results / "reports"
    for stage in ("bench_overlap", "bench_parallel"):
        write_run(reports, stage, machine=hardware("this"))
    commit(results)
    write_json(reports / "hardware.json", hardware("that"))
    write_run(reports, "bench_overlap", 3.0, machine=hardware("this"))
    write_run(reports, "bench_parallel", 3.0, machine=hardware("that"))
    edit_params({"seed": 7})
    both = sides.side_of_commit("HEAD"), sides.side_in(results)
    lines, rows = compare.differences(*both, in_full=False), compare.changed(*both)
    assert lines[0] == "params.yaml: seed: 0 -> 7"
    marks = {row.folder: row.change.mark for row in rows if row.change.name == "speedup"}
    assert marks == {"bench_overlap": "better"}
    assert [line for line in lines if "bench_parallel" in line]
    assert not [line for line in lines if "bench_overlap" in line]


def test_results_that_a_commit_lacks_are_reported_with_what_to_do(results, capsys):
    commit(results)
    write_run(results / "reports", "bench_parallel")
    assert printed(capsys) == [
        "HEAD has no bench_parallel: commit it, or compare with an experiment, --rev NAME"
    ]


def test_a_change_for_better_or_worse_has_its_size_with_an_interval():
    """Distances to the ends of both intervals add in quadrature, as independent errors do."""
    old = Finding(80.0, 79.0, 81.0, 8, Over.SEEDS, "%", "more")
    new = Finding(83.0, 82.0, 84.0, 8, Over.SEEDS, "%", "more")
    for both, mark in (((old, new), "better"), ((new, old), "worse")):
        change = compare.Change("test_accuracy_percent", *both, mark)
        assert compare.amount(change) == f"{mark} by 3 points (1.6 to 4.4)"
    assert compare.amount(compare.Change("accuracy", old, new, "within noise")) == "within noise"


def test_comparing_one_stage_prints_every_finding_even_if_unchanged(results, capsys):
    reports = results / "reports"
    for stage in ("bench_overlap", "bench_parallel"):
        write_run(reports, stage)
    commit(results)
    for stage in ("bench_overlap", "bench_parallel"):
        write_run(reports, stage, 3.0)
    edit_params({"bench_overlap.size": 7})
    change, _, *rows = [line.split() for line in printed(capsys, stage="bench_overlap")]
    assert change[:2] == ["params.yaml:", "bench_overlap.size:"]
    assert {row[0] for row in rows} == {"bench_overlap"}
    marks = {row[1]: row[-1] for row in rows}
    assert (marks["speedup"], marks["concurrent_s"]) == ("better", "same")
    with pytest.raises(ParamsError, match=r"bench_overlp: .* did you mean bench_overlap\?"):
        compare.show(stage="bench_overlp")


@pytest.mark.parametrize("where", ["the run's conditions", "the stage's params"])
def test_times_of_different_numbers_of_images_are_neither_better_nor_worse(results, where):
    def measure(seconds, images):
        conditions = {"train_images": images} if where == "the run's conditions" else {}
        write_run(results / "reports", "bench_overlap", seconds, **conditions)
        edit_params({"bench_overlap.train_images": images})

    def marks():
        rows = compare.changed(sides.side_of_commit("HEAD"), sides.side_in(results))
        return {row.change.name: row.change.mark for row in rows}

    measure(2.0, 60000)
    commit(results)
    measure(1.0, 60000)
    assert (marks()["sequential_s"], marks()["speedup"]) == ("better", "worse")
    measure(1.0, 768)
    assert marks()["sequential_s"] == "not comparable: 60,000 and 768 images"
    assert marks()["speedup"] == "worse", "a ratio within one run"


def test_git_variables_of_another_repositorys_hooks_are_ignored(results):
    """They export GIT_DIR and similar variables."""
    commit(results)
    program = "from lab.tools.sides import side_of_commit; print(len(side_of_commit('HEAD').taken))"
    ended = python("-c", program, GIT_DIR="/nowhere", GIT_INDEX_FILE="/nowhere")
    assert (ended.stdout, ended.stderr) == ("1\n", "")


def test_a_git_failure_is_reported_with_its_reason(results, monkeypatch):
    subprocess.run(["git", "init", "-q"], check=True)
    with pytest.raises(ParamsError, match="no commit yet"):
        sides.side_of_commit("HEAD")
    commit(results)
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")  # from git's own tests
    with pytest.raises(MachineError, match="git config --global --add safe"):
        sides.side_of_commit("HEAD")
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    with pytest.raises(MachineError, match="not a git repository"):
        sides.side_of_commit("HEAD")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(MachineError, match="git is not installed"):
        sides.side_of_commit("HEAD")


def test_judged_findings_come_before_few_samples_and_the_rest_is_counted(results, capsys):
    reports = results / "reports"
    columns = ("epoch", "train_loss", "test_accuracy", "seconds", "resumed")

    def write(factor):
        for i in range(8):
            epoch = (0.5, (80 + factor + i / 100) / 100, 2.0 * factor, 0)
            folder = reports / "train" / f"run{i}"
            write_rows(folder, [dict(zip(columns, (n, *epoch), strict=True)) for n in (1, 2, 3)])
            write_json(folder / "conditions.json", RECIPE | {"batch_size": factor})
        write_run(reports, "bench_overlap", 2.0 / factor)
        edit_params({f"train.runs.run{i}": {"lr": factor} for i in range(8)})

    write(1)
    commit(results)
    write(2)
    for md in (False, True):
        lines = printed(capsys, md=md)
        [params] = [line for line in lines if "params.yaml: " in line]
        assert params.endswith("and 3 more")
        marked = [line for line in lines if "worse" in line or "too few samples" in line]
        assert "bench_overlap" in marked[0] and "worse" in marked[0]
        assert len(marked) == 1 + 2 * 8 + 1, "accuracy and seconds of each run, and a note"
    [params] = [line for line in printed(capsys, in_full=True) if "params.yaml: " in line]
    assert params.count("->") == 8


def test_an_unknown_reference_is_reported_with_the_known_ones(results):
    references.snapshot("mine")
    with pytest.raises(ParamsError, match=r"no such reference; known: mine"):
        sides.side_of_reference("yours")
    shutil.rmtree(results / "reports" / "bench_overlap")
    with pytest.raises(DataError, match="no results to keep yet; run `invoke repro` first"):
        references.snapshot("empty")


DAMAGED = {
    "half": lambda whole: "{",
    "empty": lambda whole: "{}",
    "a finding without numbers": lambda whole: {
        **whole,
        "stages": {"a": {"conditions": {}, "findings": {"b": {}}}},
    },
    "GPUs of another kind": lambda whole: {**whole, "hardware": {"accelerator": {"names": 3}}},
}


def test_a_damaged_reference_is_reported_with_the_command_that_restores_it(results):
    references.snapshot("my.Machine_1")
    path = references.path_of("my.Machine_1")
    whole = json.loads(path.read_text())
    for how, damage in DAMAGED.items():
        content = damage(whole)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        with pytest.raises(DataError) as refused:
            sides.side_of_reference("my.Machine_1")
        assert str(refused.value).startswith(f"{path}: damaged ("), how
        assert str(refused.value).endswith(
            f"; `git checkout {path}` brings it back if it is committed, else delete it"
        ), how


def test_damaged_results_are_reported_whether_compared_or_kept(results):
    references.snapshot("mine")
    hardware_file = results / "reports" / "hardware.json"
    for file, content, complaint in (
        (results / "reports" / "bench_overlap" / "conditions.json", '{"a": [2]}', "a"),
        (hardware_file, "{}", "accelerator: field required"),
    ):
        whole = file.read_bytes()
        file.write_text(content)
        for read in (sides.side_in, lambda _: references.snapshot("mine")):
            with pytest.raises(DataError, match=rf"json: damaged \({complaint}"):
                read(results)
        file.write_bytes(whole)
