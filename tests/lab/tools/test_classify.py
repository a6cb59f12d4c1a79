import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from lab.core import exit_codes
from lab.core.errors import DataError
from lab.core.files import write_metrics
from lab.data import synthetic
from lab.data.datasets import CLASSES
from lab.nets.models import MODELS
from lab.tools import classify
from tests.helpers import ROOT

GARMENT = synthetic.fashion(3, 0)[0][2]


def garment(mode="L", size=(28, 28), inverted=False):
    return Image.fromarray(255 - GARMENT if inverted else GARMENT).resize(size).convert(mode)


def test_an_image_of_the_data_set_stays_as_it_is(tmp_path):
    garment().save(tmp_path / "a.png")
    assert torch.equal(classify.read_picture(tmp_path / "a.png")[0], torch.from_numpy(GARMENT))


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
    garment(mode, size, inverted).save(tmp_path / name)
    image = classify.read_picture(tmp_path / name)
    assert (image.shape, image.dtype) == ((1, 28, 28), torch.uint8)
    assert (image[0].float() - torch.from_numpy(GARMENT).float()).abs().mean() < 12


def test_what_is_transparent_is_paper_and_what_is_not_square_keeps_its_shape(tmp_path):
    drawing = Image.new("RGBA", (100, 50), (0, 0, 0, 0))
    drawing.paste((0, 0, 0, 255), (25, 0, 75, 50))
    drawing.save(tmp_path / "a.png")
    pixels = classify.read_picture(tmp_path / "a.png")[0].numpy()
    assert pixels[:6].max() == pixels[-6:].max() == 0
    assert pixels[14, 14] == 255
    assert pixels[14, 2] == 0


@pytest.mark.parametrize("content", [b"", b"not a picture", b"\x89PNG\r\n\x1a\n broken", None])
def test_what_is_no_picture_is_one_clear_error(tmp_path, content):
    path = tmp_path / "a.png"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DataError, match=r"a\.png: not a picture") as error:
        classify.read_picture(path)
    assert error.value.exit_code == 3


def test_a_picture_runs_no_postscript(tmp_path):
    """Pillow hands an EPS file to Ghostscript; where one is installed, opening such a picture would
    run it.
    """
    ran = tmp_path / "ran"
    ghostscript = tmp_path / "bin" / "gs"
    ghostscript.parent.mkdir()
    ghostscript.write_text(f"#!/bin/sh\ntouch '{ran}'\n")
    ghostscript.chmod(0o755)
    eps = tmp_path / "a.eps"
    eps.write_text(
        "%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 28 28\n%%EndComments\nshowpage\n%%EOF\n"
    )
    opened = subprocess.run(
        [sys.executable, "-m", "lab.tools.classify", str(eps)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        cwd=ROOT,
        env={"PATH": f"{ghostscript.parent}:/usr/bin:/bin"},
    )
    assert not ran.exists()
    assert (opened.returncode, opened.stderr.count("\n")) == (3, 1)
    assert "a.eps: not a picture" in opened.stderr


def test_the_classes_are_printed_likeliest_first(project, monkeypatch, capsys):
    net = MODELS["lenet"](torch.Generator().manual_seed(0))
    Path("models").mkdir()
    torch.save(net.state_dict(), "models/lenet_1gpu.pt")
    write_metrics(Path("reports/train/lenet_1gpu"), {"net": "lenet"})
    garment().save("a picture.png")

    command = [sys.executable, "-m", "lab.tools.classify", "a picture.png"]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    printed = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    lines = printed.stdout.splitlines()
    shares = [float(line.split("%")[0]) for line in lines]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(100, abs=0.1)
    assert {line.split("%  ")[1] for line in lines} == set(CLASSES)
    probabilities = classify.classify(
        classify.load_net("lenet_1gpu"), torch.from_numpy(np.array(GARMENT))[None]
    )
    assert shares[0] == pytest.approx(100 * probabilities.max().item(), abs=0.01)

    for words, code, complaint in (
        (["a picture.png", "nope"], 2, "no run 'nope' in train.runs"),
        (["a picture.png", "lenet_2gpu"], 1, "lenet_2gpu/metrics.json: not there yet"),
        (["none.png"], 3, "none.png: not a picture"),
    ):
        monkeypatch.setattr(sys, "argv", ["classify", *words])
        assert exit_codes.run(classify.main) == code
        said = capsys.readouterr().err
        assert complaint in said
        assert said.count("\n") == 1
