"""A picture in Fashion-MNIST's form: grey, 28 x 28, a light garment on black.

As in the data set, the garment fills the longer side and stands in the middle of the other.
"""

import io
import warnings
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from lab.core.errors import DataError
from lab.data.datasets import IMAGE_SHAPE

# no others: opening an EPS file runs the PostScript in it
FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP")
KINDS = "PNG, JPEG, GIF, WebP or BMP file"
MOST_BYTES = 2**26  # of a picture
MOST_PIXELS = 50_000_000  # of a picture, which take 15 bytes each for a moment
WORKING_SIDE = 10 * max(IMAGE_SHAPE)  # pixels; shrunk to so many, a photo has hardly any noise
LEAST_CONTRAST = 10  # levels of the file between a garment and its background
FULL = 255  # what the lightest part of a garment is in the data set, give or take a tenth
BACKGROUND = 20  # at most, of these 255 levels
FILLED = 0.9  # of the longer side, at least: what leaves more is cropped


def read_picture(path: Path) -> tuple[np.ndarray, list[str]]:
    """Read a picture file as one uint8 image (28, 28), and say in words what was done to it.

    Raises:
        DataError: missing, or not a picture, or too large, or nothing differs from its edge.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ValueError(f"more than {MOST_BYTES:,} bytes")
        picture = _decoded(path.read_bytes())
    except Image.DecompressionBombError:
        raise DataError(
            f"{path}: more than {MOST_PIXELS:,} pixels; give a smaller picture"
        ) from None
    except FileNotFoundError:
        raise DataError(f"{path}: no such file; give the path of a picture") from None
    except UnidentifiedImageError:
        raise DataError(f"{path}: not a {KINDS}; save the picture as one") from None
    except Exception as error:  # whatever a damaged file leads to
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise DataError(f"{path}: cannot be read ({reason}); give a {KINDS}") from None
    garment, was_dark = _garment(picture)
    contrast = garment.max()
    if contrast < LEAST_CONTRAST:
        raise DataError(f"{path}: all of it has one colour; give a picture of a garment")
    done = ["light background inverted"] if was_dark else []
    if not 0.9 * FULL <= contrast <= FULL:
        done.append("contrast stretched")
    pixels = (garment * (FULL / contrast)).round().astype(np.uint8)
    rows, columns = (np.flatnonzero((pixels > BACKGROUND).any(axis)) for axis in (1, 0))
    box = pixels[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    side = max(IMAGE_SHAPE)
    if side < max(pixels.shape) > max(box.shape) / FILLED:  # not an image of the data set
        pixels = box
        done.append("cropped to the garment")
    if (longer := max(pixels.shape)) != side:
        done.append(f"{'shrunk' if longer > side else 'enlarged'} to {side} x {side}")
    return np.array(ImageOps.pad(Image.fromarray(pixels), IMAGE_SHAPE, color=0)), done


def _decoded(content: bytes) -> Image.Image:
    """The picture in a file's content, in grey levels that may be fractions.

    It is on white paper where it is transparent.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about what is refused here, or does not matter
        with Image.open(io.BytesIO(content), formats=FORMATS) as file:
            if file.width * file.height > MOST_PIXELS:
                raise Image.DecompressionBombError
            upright = ImageOps.exif_transpose(file)
            if upright.mode.startswith("I"):  # 16 bits, or 32: `RGBA` would cut them off at 255
                return upright.convert("F")
            upright = upright.convert("RGBA")
    paper = Image.new("RGBA", upright.size, "white")
    return Image.alpha_composite(paper, upright).convert("L").convert("F")


def _garment(picture: Image.Image) -> tuple[np.ndarray, bool]:
    """How much lighter each pixel is than the background, from 0, and whether it was darker.

    The background is what most of the edge shows: a garment may reach it here and there.
    """
    picture.thumbnail((WORKING_SIDE, WORKING_SIDE), Image.Resampling.BOX)
    levels = np.asarray(picture)
    edge = np.concatenate([levels[0], levels[-1], levels[:, 0], levels[:, -1]])
    dark, middle, light = np.quantile(edge, (0.25, 0.5, 0.75))
    was_dark = bool(levels.mean() < middle)
    return (light - levels if was_dark else levels - dark).clip(min=0), was_dark
