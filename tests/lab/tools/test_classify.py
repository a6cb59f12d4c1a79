import io
import pickle
from functools import partial
from pathlib import Path

import pytest
import torch
from PIL import Image

from lab.core import process
from lab.core.errors import CheckpointError, DataError
from lab.core.files import CONDITIONS, sha256, write_json
from lab.data import synthetic
from lab.data.datasets import CLASSES
from lab.nets.models import MODELS
from lab.tools import classify
from lab.tools.picture import read_picture

GARMENT = synthetic.fashion(3, 0)[0][2]


def write_run(content: bytes, name: str = "lenet_1gpu", **conditions: str) -> None:
    """Write what a run of LeNet leaves, with those weights."""
    Path("models").mkdir(exist_ok=True)
    Path(f"models/{name}.pt").write_bytes(content)
    found = {"net": "lenet", "weights_sha256": sha256(content)[:16]} | conditions
    write_json(Path("reports/train", name, CONDITIONS), found)


def saved(state: object, **options: bool) -> bytes:
    """What torch.save writes."""
    buffer = io.BytesIO()
    torch.save(state, buffer, **options)
    return buffer.getvalue()


WEIGHTS = saved(MODELS["lenet"](torch.Generator().manual_seed(0)).state_dict())
FOREIGN = {
    "empty": b"",
    "half": WEIGHTS[:1000],
    "a pickle": pickle.dumps({"W1": 1}),
    "another net's": saved(MODELS["mlp"](torch.Generator()).state_dict()),
    "of other shapes": saved({name: torch.zeros(1) for name in ("W1", "b1", "W2", "b2")}),
    "a list": saved([torch.zeros(1)]),
    "no dictionary of tensors": saved({"W1": "x"}),
    "a net": saved(torch.nn.Linear(1, 1)),
}


def test_weights_that_are_none_are_checkpoint_errors_that_name_the_command(project):
    """Both as damage, which the hash tells, and as what a forger gave a matching hash."""
    for how, content in FOREIGN.items():
        for hash_of in (WEIGHTS, content):
            write_run(content, weights_sha256=sha256(hash_of)[:16])
            with pytest.raises(CheckpointError) as refused:
                classify.load_net("lenet_1gpu")
            line = str(refused.value)
            assert line.startswith("models/lenet_1gpu.pt: "), how
            assert line.endswith("; `invoke train lenet_1gpu` makes it anew"), how
            assert len(line.splitlines()) == 1, how
            assert ("not the weights that" in line) == (hash_of is not content), how
            assert refused.value.exit_code == 5


def test_conditions_that_do_not_tell_of_a_net_are_data_errors(project):
    for metrics in ({"net": "alexnet"}, {"net": ""}, {"weights_sha256": 3}):
        write_run(WEIGHTS, **metrics)
        with pytest.raises(
            DataError,
            match=r"conditions\.json: damaged \((net|weights_sha256): .*; `invoke train len",
        ):
            classify.load_net("lenet_1gpu")


def test_the_classes_are_printed_likeliest_first(project, capsys):
    write_run(WEIGHTS)
    Image.fromarray(GARMENT).save("a picture.png")

    classify.predict(Path("a picture.png"))
    done, *lines = capsys.readouterr().out.splitlines()
    assert "lenet_1gpu" in done
    assert lines.pop().startswith("not sure"), "its weights are random"
    shares = [float(line.split("%")[0]) for line in lines]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(100, abs=0.1)
    assert {line.split("%  ")[1] for line in lines} == set(CLASSES)
    probabilities = classify.classify(
        classify.load_net("lenet_1gpu"),
        torch.from_numpy(read_picture(Path("a picture.png"))[0])[None],
    )
    assert shares[0] == pytest.approx(100 * probabilities.max().item(), abs=0.01)

    for words, code, complaint in (
        (["a picture.png", "nope"], 2, "no run 'nope' in train.runs"),
        (["a picture.png", "lenet_2gpu"], 5, "lenet_2gpu/conditions.json: not there yet"),
        (["none.png"], 3, "none.png: no such file"),
        (["a picture.png"], 5, "lenet_1gpu.pt: not the weights that reports/train/lenet_1gpu/cond"),
    ):
        if code == 5 and len(words) == 1:
            Path("models/lenet_1gpu.pt").write_bytes(WEIGHTS[:1000])
        assert process.run(partial(classify.predict, Path(words[0]), *words[1:])) == code
        said = capsys.readouterr().err
        assert complaint in said
        assert said.count("\n") == 1


def test_a_run_that_is_trained_here_answers_where_none_is_named(project, capsys):
    Image.fromarray(GARMENT).save("a.png")
    predict = partial(classify.predict, Path("a.png"))
    assert process.run(predict) == 5
    assert "lenet_1gpu" in capsys.readouterr().err
    write_run(WEIGHTS, "record_83")
    assert process.run(predict) == 0
    assert "record_83" in capsys.readouterr().out.splitlines()[0]
