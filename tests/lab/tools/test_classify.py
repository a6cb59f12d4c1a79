import io
import pickle
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from lab.core import process
from lab.core.errors import CheckpointError, DataError
from lab.core.files import sha256, write_metrics
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
    said = "not a picture;" if content is not None else "no such file;"
    with pytest.raises(DataError, match=rf"a\.png: {said}") as error:
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


@pytest.mark.parametrize("kind", ["EPS", "TIFF", "ICO", "PPM", "PDF"])
def test_only_pictures_of_named_formats_are_opened(tmp_path, kind):
    garment("RGB").save(tmp_path / "a.png", format=kind)
    with pytest.raises(DataError, match="give a PNG, JPEG, GIF, WebP or BMP file"):
        classify.read_picture(tmp_path / "a.png")


def test_a_picture_is_refused_by_its_size_before_it_is_decoded(tmp_path):
    """Its size is in its header, before pixels of which there are too few."""
    garment().save(tmp_path / "a.png")
    small = (tmp_path / "a.png").read_bytes()
    for size in ((13_000, 13_000), (50_000, 1_001), (2**31 - 1, 2**31 - 1)):
        header = b"IHDR" + struct.pack(">II", *size) + small[24:29]
        content = small[:12] + header + struct.pack(">I", zlib.crc32(header)) + small[33:]
        (tmp_path / "bomb.png").write_bytes(content)
        with pytest.raises(DataError, match=r"bomb\.png: more than 50,000,000 pixels; give a sm"):
            classify.read_picture(tmp_path / "bomb.png")


def test_a_picture_may_be_as_thin_as_it_likes(tmp_path):
    for size in ((3000, 1), (1, 3000), (1, 1)):
        Image.new("L", size).save(tmp_path / "a.png")
        assert classify.read_picture(tmp_path / "a.png").shape == (1, 28, 28)


def write_run(content: bytes, **metrics: str) -> None:
    """Write what a run of LeNet leaves, with those weights."""
    Path("models").mkdir(exist_ok=True)
    Path("models/lenet_1gpu.pt").write_bytes(content)
    found = {"net": "lenet", "weights_sha256": sha256(content)[:16]} | metrics
    write_metrics(Path("reports/train/lenet_1gpu"), found)


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


def test_the_classes_are_printed_likeliest_first(project, monkeypatch, capsys):
    write_run(WEIGHTS)
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
        (["a picture.png", "lenet_2gpu"], 5, "lenet_2gpu/conditions.json: not there yet"),
        (["none.png"], 3, "none.png: no such file"),
        (["a picture.png"], 5, "lenet_1gpu.pt: not the weights that reports/train/lenet_1gpu/cond"),
    ):
        if code == 5 and len(words) == 1:
            Path("models/lenet_1gpu.pt").write_bytes(WEIGHTS[:1000])
        monkeypatch.setattr(sys, "argv", ["classify", *words])
        assert process.run(classify.main) == code
        said = capsys.readouterr().err
        assert complaint in said
        assert said.count("\n") == 1
