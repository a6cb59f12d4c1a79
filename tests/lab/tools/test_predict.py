"""The net's answer, and users' pictures compared with the image that they show."""

import io
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


def saved(state: object) -> bytes:
    """Return the bytes that torch.save writes."""
    buffer = io.BytesIO()
    torch.save(state, buffer)
    return buffer.getvalue()


WEIGHTS = saved(MODELS["lenet"](torch.Generator().manual_seed(0)).state_dict())


def write_run(name: str, accuracy: float, content: bytes = WEIGHTS) -> None:
    """Write the files that a run of LeNet leaves."""
    Path("models").mkdir(exist_ok=True)
    Path(f"models/{name}.pt").write_bytes(content)
    folder = Path("reports/train", name)
    write_json(folder / CONDITIONS, {"net": "lenet", "weights_sha256": sha256(content)[:16]})
    write_json(folder / METRICS, {"test_accuracy_percent": accuracy})


@pytest.mark.parametrize("state", [MODELS["mlp"](torch.Generator()).state_dict(), [torch.zeros(1)]])
def test_weights_of_a_different_net_are_refused_in_a_line_that_names_the_command(project, state):
    write_run("lenet_1gpu", 90, saved(state))
    line = r"^models/lenet_1gpu\.pt: [^\n]*; `invoke train lenet_1gpu` makes it again$"
    with pytest.raises(CheckpointError, match=line):
        predict.load_net("lenet_1gpu")


def test_the_classes_are_printed_likeliest_first_and_each_mistake_is_one_line(project, capsys):
    write_run("lenet_1gpu", 90)
    Image.fromarray(DRAWN).save("a picture.png")

    predict.predict(Path("a picture.png"))
    _, *lines = capsys.readouterr().out.splitlines()
    assert lines.pop().startswith("not sure"), "its weights are random"
    shares = [float(line.split("%")[0]) for line in lines]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(100, abs=0.1)
    assert {line.split("%  ")[1] for line in lines} == set(CLASSES)

    write_run("lenet_2gpu", 80)
    Path("models/lenet_2gpu.pt").write_bytes(WEIGHTS[:1000])
    for words, code, complaint in (
        (["a picture.png", "nope"], 2, "no run 'nope' in train.runs"),
        (["none.png"], 3, "none.png: no such file"),
        (["a picture.png", "record_83"], 5, "record_83/conditions.json: not there yet"),
        (["a picture.png", "lenet_2gpu"], 5, "not the weights that reports/train/lenet_2gpu/cond"),
    ):
        assert process.run(partial(predict.predict, Path(words[0]), *words[1:])) == code
        said = capsys.readouterr().err
        assert complaint in said
        assert said.count("\n") == 1


def test_the_most_accurate_run_trained_here_answers_by_default(project, capsys):
    Image.fromarray(DRAWN).save("a.png")
    with pytest.raises(CheckpointError, match="lenet_1gpu"):  # there is none yet
        predict.predict(Path("a.png"))
    for name, accuracy in {"record_92": 92.5, "record_83": 83.2, "record_90": 90.1}.items():
        write_run(name, accuracy)
    Path("models/record_92.pt").unlink()  # it is elsewhere
    (Path("reports/train/record_83") / METRICS).unlink()
    predict.predict(Path("a.png"))
    assert "record_90" in capsys.readouterr().out.splitlines()[0]


def seen(path, image):
    """Return the pixels that a net gets of a picture."""
    image.save(path)
    pixels = read_picture(path)
    assert (pixels.shape, pixels.dtype) == ((28, 28), np.uint8)
    return pixels


def test_an_image_of_the_data_set_stays_as_it_is(tmp_path):
    assert np.array_equal(seen(tmp_path / "a.png", Image.fromarray(GARMENT)), GARMENT)


@pytest.mark.parametrize(
    ("name", "mode", "size", "paper"),
    [
        ("a.bmp", "L", (720, 300), 0),
        ("a.jpg", "RGB", (840, 840), 160),
        ("a.gif", "P", (300, 720), 255),
        ("a.webp", "RGB", (300, 720), 255),
    ],
)
def test_any_photo_becomes_a_light_garment_on_black(tmp_path, name, mode, size, paper):
    """The margin is cropped as in the data set; camera noise, specks and text disappear."""
    ink = 0 if paper else 255
    photo = np.full(size, float(paper))
    garment = np.asarray(Image.fromarray(GARMENT).resize((140, 140)))
    photo[60:200, 30:170] += garment / 255 * (ink - paper)
    photo[-9:-6, -9:-6] = photo[3, 3] = ink
    for x in range(40, 160, 15):  # a line of text below
        photo[230:240, x : x + 8] = ink
    noise = np.random.default_rng(0).normal(0, 3, size) if paper == 160 else 0
    image = Image.fromarray((photo + noise).clip(0, 255).round().astype(np.uint8))
    pixels = seen(tmp_path / name, image.convert(mode))
    assert np.abs(pixels.astype(float) - GARMENT).mean() < 12


def test_transparent_areas_are_background_and_pictures_keep_their_shape(tmp_path):
    drawing = Image.new("RGBA", (100, 50), (0, 0, 0, 0))
    drawing.paste((0, 0, 0, 255), (5, 10, 95, 40))
    pixels = seen(tmp_path / "a.png", drawing)
    assert pixels[:8].max() == pixels[-8:].max() == 0
    assert pixels[14, 2] == pixels[14, 14] == 255


def test_a_drawing_in_thin_lines_is_seen(tmp_path):
    drawing = np.full((280, 280), 255, dtype=np.uint8)
    drawing[100:180, 140] = drawing[140, 60:220] = 0
    assert seen(tmp_path / "a.png", Image.fromarray(drawing)).any()


def encoded(image, kind):
    buffer = io.BytesIO()
    image.save(buffer, format=kind)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (encoded(Image.new("RGB", (50, 40), (250, 240, 230)), "PNG"), "all of it has one colour"),
        (encoded(Image.new("RGBA", (50, 40)), "PNG"), "all of it has one colour"),
        (b"", "give a PNG"),
        (b"\x89PNG\r\n\x1a\n broken", "give a PNG"),
        # Pillow hands an EPS file to Ghostscript, which runs the PostScript in it
        (encoded(Image.new("RGB", (50, 40)), "EPS"), "give a PNG"),
        (encoded(Image.new("RGB", (50, 40)), "TIFF"), "give a PNG"),
    ],
    ids=["one colour", "transparent", "empty", "broken", "EPS", "TIFF"],
)
def test_a_picture_without_a_garment_is_one_clear_error(tmp_path, content, complaint):
    path = tmp_path / "a.png"
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"a\.png: .*{complaint}") as error:
        read_picture(path)
    assert error.value.exit_code == 3
