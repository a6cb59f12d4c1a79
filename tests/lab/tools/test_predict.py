"""The net's answer, and pictures as people have them against the image that they show."""

import io
import pickle
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image, ImageOps

from lab.core import process
from lab.core.errors import CheckpointError, DataError
from lab.core.files import CONDITIONS, METRICS, sha256, write_json
from lab.data import synthetic
from lab.data.datasets import CLASSES
from lab.nets.models import MODELS
from lab.tools import predict
from lab.tools.predict import read_picture

DRAWN = synthetic.fashion(3, 0)[0][2]
CLEAN = Image.fromarray(np.where(DRAWN > 60, DRAWN, 0).astype(np.uint8))
GARMENT = np.array(ImageOps.pad(CLEAN.crop(CLEAN.getbbox()), (28, 28)))  # as in the data set


def write_run(content: bytes, name: str = "lenet_1gpu", **conditions: str) -> None:
    """Write what a run of LeNet leaves, with those weights."""
    Path("models").mkdir(exist_ok=True)
    Path(f"models/{name}.pt").write_bytes(content)
    found = {"net": "lenet", "weights_sha256": sha256(content)[:16]} | conditions
    write_json(Path("reports/train", name, CONDITIONS), found)


def write_metrics(name: str, accuracy: float) -> None:
    write_json(Path("reports/train", name, METRICS), {"test_accuracy_percent": accuracy})


def saved(state: object, **options: bool) -> bytes:
    """What torch.save writes."""
    buffer = io.BytesIO()
    torch.save(state, buffer, **options)
    return buffer.getvalue()


WEIGHTS = saved(MODELS["lenet"](torch.Generator().manual_seed(0)).state_dict())
FOREIGN = {
    "half": WEIGHTS[:1000],
    "a pickle": pickle.dumps({"W1": 1}),
    "another net's": saved(MODELS["mlp"](torch.Generator()).state_dict()),
    "a list": saved([torch.zeros(1)]),
    "a net": saved(torch.nn.Linear(1, 1)),
}


def test_weights_that_are_none_are_checkpoint_errors_that_name_the_command(project):
    """Both as damage, which the hash tells, and as what a forger gave a matching hash."""
    for how, content in FOREIGN.items():
        for hash_of in (WEIGHTS, content):
            write_run(content, weights_sha256=sha256(hash_of)[:16])
            with pytest.raises(CheckpointError) as refused:
                predict.load_net("lenet_1gpu")
            line = str(refused.value)
            assert line.startswith("models/lenet_1gpu.pt: "), how
            assert line.endswith("; `invoke train lenet_1gpu` makes it anew"), how
            assert len(line.splitlines()) == 1, how
            assert ("not the weights that" in line) == (hash_of is not content), how
            assert refused.value.exit_code == 5


def test_the_classes_are_printed_likeliest_first(project, capsys):
    write_run(WEIGHTS)
    Image.fromarray(DRAWN).save("a picture.png")

    predict.predict(Path("a picture.png"))
    seen_by, *lines = capsys.readouterr().out.splitlines()
    assert "lenet_1gpu" in seen_by
    assert lines.pop().startswith("not sure"), "its weights are random"
    shares = [float(line.split("%")[0]) for line in lines]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(100, abs=0.1)
    assert {line.split("%  ")[1] for line in lines} == set(CLASSES)

    for words, code, complaint in (
        (["a picture.png", "nope"], 2, "no run 'nope' in train.runs"),
        (["a picture.png", "lenet_2gpu"], 5, "lenet_2gpu/conditions.json: not there yet"),
        (["none.png"], 3, "none.png: no such file"),
        (["a picture.png"], 5, "lenet_1gpu.pt: not the weights that reports/train/lenet_1gpu/cond"),
    ):
        if code == 5 and len(words) == 1:
            Path("models/lenet_1gpu.pt").write_bytes(WEIGHTS[:1000])
        assert process.run(partial(predict.predict, Path(words[0]), *words[1:])) == code
        said = capsys.readouterr().err
        assert complaint in said
        assert said.count("\n") == 1


def test_the_most_accurate_run_that_is_trained_here_answers_where_none_is_named(project, capsys):
    Image.fromarray(DRAWN).save("a.png")
    see = partial(predict.predict, Path("a.png"))
    assert process.run(see) == 5
    assert "lenet_1gpu" in capsys.readouterr().err
    write_metrics("record_92", 92.5)  # of a run whose weights are elsewhere
    for name, accuracy in (("record_83", 83.2), ("record_90", 90.1), ("lenet_2gpu", 84.0)):
        write_run(WEIGHTS, name)
        write_metrics(name, accuracy)
    write_run(WEIGHTS, "lenet_1gpu")
    assert process.run(see) == 0
    assert "record_90" in capsys.readouterr().out.splitlines()[0]


def picture(mode="L", size=(28, 28), inverted=False):
    return Image.fromarray(255 - GARMENT if inverted else GARMENT).resize(size).convert(mode)


def seen(path, image):
    """What a net is given of a picture."""
    image.save(path)
    pixels = read_picture(path)
    assert (pixels.shape, pixels.dtype) == ((28, 28), np.uint8)
    return pixels


def difference(pixels):
    return np.abs(pixels.astype(float) - GARMENT).mean()


def test_an_image_of_the_data_set_stays_as_it_is(tmp_path):
    assert np.array_equal(seen(tmp_path / "a.png", picture()), GARMENT)


@pytest.mark.parametrize(
    ("name", "mode", "size", "inverted"),
    [
        ("a.png", "RGB", (280, 280), False),
        ("a.jpg", "RGB", (84, 84), True),
        ("a.gif", "P", (56, 56), True),
        ("a.bmp", "L", (112, 112), True),
    ],
)
def test_any_picture_becomes_a_light_garment_on_black(tmp_path, name, mode, size, inverted):
    assert difference(seen(tmp_path / name, picture(mode, size, inverted))) < 12


@pytest.mark.parametrize("size", [(720, 300), (840, 840), (300, 720)])
@pytest.mark.parametrize("paper", [0, 160, 255])
def test_a_margin_is_cropped_as_the_data_sets_makers_did(tmp_path, size, paper):
    """With the noise of a camera, and a speck in the corner that is no part of the garment."""
    ink = 0 if paper else 255
    photo = np.full(size, float(paper))
    photo[60:200, 30:170] += np.asarray(picture(size=(140, 140))) / 255 * (ink - paper)
    photo[-9:-6, -9:-6] = ink
    noise = np.random.default_rng(0).normal(0, 3, size) if paper == 160 else 0
    image = Image.fromarray((photo + noise).clip(0, 255).round().astype(np.uint8))
    assert difference(seen(tmp_path / "a.png", image)) < 12


@pytest.mark.parametrize(
    "image", [Image.new("RGB", (50, 40), (250, 240, 230)), Image.new("RGBA", (50, 40))]
)
def test_a_picture_in_which_nothing_is_to_be_seen_is_refused(tmp_path, image):
    image.save(tmp_path / "a.png")
    with pytest.raises(DataError, match="one colour") as error:
        read_picture(tmp_path / "a.png")
    assert error.value.exit_code == 3


def test_what_is_transparent_is_paper_and_what_is_not_square_keeps_its_shape(tmp_path):
    drawing = Image.new("RGBA", (100, 50), (0, 0, 0, 0))
    drawing.paste((0, 0, 0, 255), (5, 10, 95, 40))
    pixels = seen(tmp_path / "a.png", drawing)
    assert pixels[:8].max() == pixels[-8:].max() == 0
    assert pixels[14, 2] == pixels[14, 14] == 255


@pytest.mark.parametrize("content", [b"", b"not a picture", b"\x89PNG\r\n\x1a\n broken", None])
def test_what_is_no_picture_is_one_clear_error(tmp_path, content):
    path = tmp_path / "a.png"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DataError, match=r"a\.png: ") as error:
        read_picture(path)
    assert error.value.exit_code == 3


@pytest.mark.parametrize("kind", ["EPS", "TIFF", "ICO", "PPM", "PDF"])
def test_only_pictures_of_named_formats_are_opened(tmp_path, kind):
    """Pillow hands an EPS file to Ghostscript, which runs the PostScript in it."""
    picture("RGB").save(tmp_path / "a.png", format=kind)
    with pytest.raises(DataError, match="give a PNG, JPEG, GIF, WebP or BMP file"):
        read_picture(tmp_path / "a.png")
