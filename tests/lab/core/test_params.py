from pathlib import Path
from typing import Any

import pytest

from lab.core import params
from lab.core.errors import ParamsError
from lab.core.params import Section
from stages.probe.__main__ import params_models
from stages.train.measure.params import Params as TrainStage
from tests.helpers import edit_params


class Small(Section):
    lr: float
    batch_size: int


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_numbers_are_read_as_dvc_reads_them_despite_crlf_and_a_byte_order_mark(tmp_path):
    file = write(tmp_path / "p.yaml", b"\xef\xbb\xbflr: 1e-3\r\nbatch_size: 010\r\n")
    assert params.load(Small, file) == Small(lr=0.001, batch_size=10)


NO_PARAMS = [
    (None, "no such file"),
    (b"lr: 1\nlr: 2\n", "duplicate key"),
    (b"lr:\n\ta: 2\n", "line 2: a tab"),
    (b"lr: @2\n", "line 1: found"),
    ("batch_size: 1 # a\u00a0\nlr:\u00a02\n".encode(), r"line 2: a space .* \(U\+00A0\)"),
    (b"<<<<<<< HEAD\nlr: 1\n=======\nlr: 2\n>>>>>>> b\n", "a merge left both sides in it"),
    (b"- 1\n", "expected sections"),
    (b"", "expected sections"),
    ("lr: 1\nbatch_size: 2\n".encode("utf-16"), "UTF-8"),
    (b"lr: 2020-99-99\nbatch_size: 1\n", "month must be in 1..12"),
]


@pytest.mark.parametrize(("content", "complaint"), NO_PARAMS)
def test_each_mistake_in_a_params_file_is_reported_in_one_line(tmp_path, content, complaint):
    path = tmp_path / "p.yaml"
    if content is not None:
        write(path, content)
    with pytest.raises(ParamsError, match=complaint) as error:
        params.load(Small, path)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 250 + len(str(tmp_path))
    assert error.value.exit_code == 2


BAD: list[tuple[str, Any, str]] = [
    (
        "train.runs.lenet_1gpu.lr",
        -1,
        "train.runs.lenet_1gpu.lr: expected a number greater than 0, got -1",
    ),
    ("train.runs.lenet_1gpu.lr", float("nan"), "finite"),
    ("train.runs.lenet_1gpu.lr", "1e-3", "expected a number, got"),
    ("train.runs.lenet_1gpu.train_images", "60,000", "numbers have no comma"),
    ("train.runs.lenet_1gpu.batch_size", True, "expected an integer, got"),
    ("train.runs.lenet_1gpu.num_epocs", 3, "unknown key; did you mean num_epochs?"),
    ("train.runs.lenet_1gpu.net", "alexnet", "'lenet'"),
    ("train.runs.a b; touch pwned", {}, "a word of the pattern"),
    (f"train.runs.{'a' * 65}", {}, "expected a word of at most 64 characters"),
    ("train.runs", {}, "at least 1"),
    (
        "train.runs.lenet_1gpu.train_images",
        100,
        "a batch_size of at most train_images (100), got 256",
    ),
    ("trian", {}, "trian: unknown key; did you mean train?"),
    (
        "schedules.highest_rate.lenet.seeds",
        0,
        "schedules: expected a seed of highest_rate.lenet at least, got 0",
    ),
    ("seed", -1, "greater than or equal to 0"),
    ("data.if_unreachable", "panic", "'synthetic' or 'fail'"),
    ("data.mirrors.airfoil", ["ftp://example.org"], "pattern"),
]


def test_a_bad_value_is_reported_with_what_was_expected(project):
    good, models = Path("params.yaml").read_bytes(), list(params_models())
    for key, value, complaint in BAD:
        Path("params.yaml").write_bytes(good)
        edit_params({key: value})
        try:
            params.check(models)
        except ParamsError as error:
            lines = str(error).splitlines()
        else:
            lines = []
        assert complaint.lower() in "\n".join(lines).lower(), (key, value)
        assert all(line.startswith("params.yaml: ") for line in lines), (key, value)
        assert all(len(line) < 250 for line in lines), (key, value)


def test_a_missing_key_is_reported_once(project):
    edit_params({"train.defaults.lr": None}, delete=True)
    with pytest.raises(ParamsError) as error:
        params.load(TrainStage)
    [line] = str(error.value).splitlines()
    assert "train.defaults.lr: missing key" in line, "one mistake, though three runs lack it"


def test_a_mistyped_default_and_a_runs_mistyped_key_are_one_error_each(project):
    edit_params({"train.defaults.momentun": 0.9, "train.runs.lenet_2gpu.bach_size": 256})
    with pytest.raises(ParamsError) as error:
        params.load(TrainStage)
    assert str(error.value).splitlines() == [
        "params.yaml: train.defaults.momentun: unknown key; did you mean momentum?",
        "params.yaml: train.runs.lenet_2gpu.bach_size: unknown key; did you mean batch_size?",
    ]
