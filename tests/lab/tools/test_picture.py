"""Pictures as people have them, against the image of the data set that they show."""

import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest
from PIL import Image, ImageOps

from lab.core.errors import DataError
from lab.data import synthetic
from lab.tools.picture import read_picture
from tests.helpers import ROOT

DRAWN = synthetic.fashion(3, 0)[0][2]
CLEAN = Image.fromarray(np.where(DRAWN > 60, DRAWN, 0).astype(np.uint8))
GARMENT = np.array(ImageOps.pad(CLEAN.crop(CLEAN.getbbox()), (28, 28)))  # as in the data set


def picture(mode="L", size=(28, 28), inverted=False):
    return Image.fromarray(255 - GARMENT if inverted else GARMENT).resize(size).convert(mode)


def seen(path, image):
    """What a net is given of a picture, and what was done to it."""
    image.save(path)
    pixels, done = read_picture(path)
    assert (pixels.shape, pixels.dtype) == ((28, 28), np.uint8)
    return pixels, done


def difference(pixels):
    return np.abs(pixels.astype(float) - GARMENT).mean()


def test_an_image_of_the_data_set_stays_as_it_is(tmp_path):
    pixels, done = seen(tmp_path / "a.png", picture())
    assert np.array_equal(pixels, GARMENT)
    assert not done


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
    pixels, done = seen(tmp_path / name, picture(mode, size, inverted))
    assert difference(pixels) < 12
    assert len(done) == 1 + inverted, "the size, and the background"


@pytest.mark.parametrize("inverted", [False, True])
@pytest.mark.parametrize("levels", [257, 16, 4], ids=["16 bits", "12 in 16", "10 in 16"])
def test_a_picture_of_more_than_8_bits_is_scaled_and_not_cut_off(tmp_path, levels, inverted):
    deep = np.asarray(picture(inverted=inverted)).astype(np.uint16) * levels
    pixels, _ = seen(tmp_path / "a.png", Image.fromarray(deep))
    assert difference(pixels) < 1


@pytest.mark.parametrize("table", [100, 120, 160, 200])
def test_a_garment_on_a_grey_table_lighter_or_darker_is_the_same_garment(tmp_path, table):
    for lightest in (255, 0):
        photo = table + GARMENT / 255 * (lightest - table)
        pixels, _ = seen(tmp_path / "a.png", Image.fromarray(photo.round().astype(np.uint8)))
        assert difference(pixels) < 3, lightest


@pytest.mark.parametrize("size", [(720, 300), (840, 840), (300, 720)])
@pytest.mark.parametrize("paper", [0, 160, 255])
def test_a_margin_is_cropped_as_the_data_sets_makers_did(tmp_path, size, paper):
    """On a table it lies with the noise of a camera around it."""
    garment = paper + np.asarray(picture(size=(140, 140))) / 255 * ((0 if paper else 255) - paper)
    photo = np.full(size, float(paper))
    photo[60:200, 30:170] = garment
    noise = np.random.default_rng(0).normal(0, 3, size) if paper == 160 else 0
    image = Image.fromarray((photo + noise).clip(0, 255).round().astype(np.uint8))
    pixels, done = seen(tmp_path / "a.png", image)
    assert difference(pixels) < 12
    assert [each for each in done if "crop" in each]


BLANK = Image.new("RGB", (50, 40), (250, 240, 230))


@pytest.mark.parametrize(
    ("name", "image"),
    [
        ("one colour.jpg", BLANK),
        ("transparent.png", Image.new("RGBA", (50, 40))),
        ("one pixel.png", Image.new("L", (1, 1), 90)),
        ("thin.png", Image.new("L", (3000, 1))),
        ("16 bits.png", Image.fromarray(np.full((9, 9), 40_000, np.uint16))),
        ("first frame.gif", BLANK),
    ],
)
def test_a_picture_in_which_nothing_is_to_be_seen_is_refused(tmp_path, name, image):
    others = {"save_all": True, "append_images": [picture("RGB")]} if name.endswith("gif") else {}
    image.save(tmp_path / name, **others)
    with pytest.raises(DataError, match=name) as error:
        read_picture(tmp_path / name)
    assert (error.value.exit_code, str(error.value).count("\n")) == (3, 0)


def test_what_is_transparent_is_paper_and_what_is_not_square_keeps_its_shape(tmp_path):
    drawing = Image.new("RGBA", (100, 50), (0, 0, 0, 0))
    drawing.paste((0, 0, 0, 255), (5, 10, 95, 40))
    pixels, _ = seen(tmp_path / "a.png", drawing)
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
        [sys.executable, "-m", "invoke", "predict", str(eps)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        cwd=ROOT,
        env={"PATH": f"{ghostscript.parent}:/usr/bin:/bin"},
    )
    assert not ran.exists()
    assert (opened.returncode, opened.stderr.count("\n")) == (3, 1)
    assert "a.eps: " in opened.stderr


@pytest.mark.parametrize("kind", ["EPS", "TIFF", "ICO", "PPM", "PDF"])
def test_only_pictures_of_named_formats_are_opened(tmp_path, kind):
    picture("RGB").save(tmp_path / "a.png", format=kind)
    with pytest.raises(DataError, match="not a PNG, JPEG, GIF, WebP or BMP file"):
        read_picture(tmp_path / "a.png")


def test_a_picture_is_refused_by_its_size_before_it_is_decoded(tmp_path):
    """Its size is in its header, before pixels of which there are too few."""
    picture().save(tmp_path / "a.png")
    small = (tmp_path / "a.png").read_bytes()
    for size in ((13_000, 13_000), (50_000, 1_001), (2**31 - 1, 2**31 - 1)):
        header = b"IHDR" + struct.pack(">II", *size) + small[24:29]
        content = small[:12] + header + struct.pack(">I", zlib.crc32(header)) + small[33:]
        (tmp_path / "bomb.png").write_bytes(content)
        with pytest.raises(DataError, match=r"bomb\.png: more than 50,000,000 pixels; give a sm"):
            read_picture(tmp_path / "bomb.png")


def test_a_picture_may_be_as_thin_as_it_likes(tmp_path):
    for size in ((3000, 2), (2, 3000), (2, 1)):
        line = Image.new("L", size)
        line.putpixel((0, 0), 255)
        seen(tmp_path / "a.png", line)
