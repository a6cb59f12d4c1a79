"""Seeded look-alikes of the two data sets, in their shapes, for machines that can reach neither.

The garments are ten outlines. Each is drawn large once, and then "photographed" in random poses,
cloths and noise, so that a network has something to learn, and a few classes (shirt, coat,
pullover) to confuse.
"""

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

TEMPLATE_SIZE = 112
IMAGE_SIZE = 28

# Outlines on a 0-100 grid, x to the right and y down, in the order of Fashion-MNIST's labels. Each
# class has a list of outlines, and a list of holes.
Outline = list[tuple[int, int]]
GARMENTS: list[tuple[list[Outline], list[Outline]]] = [
    # T-shirt/top: short sleeves
    (
        [
            [
                (30, 12),
                (70, 12),
                (95, 30),
                (84, 44),
                (74, 38),
                (74, 90),
                (26, 90),
                (26, 38),
                (16, 44),
                (5, 30),
            ]
        ],
        [],
    ),
    # Trouser
    ([[(32, 5), (68, 5), (74, 96), (56, 96), (50, 35), (44, 96), (26, 96)]], []),
    # Pullover: long sleeves hanging next to a wide body
    (
        [
            [
                (34, 10),
                (66, 10),
                (92, 30),
                (98, 88),
                (84, 90),
                (76, 48),
                (76, 90),
                (24, 90),
                (24, 48),
                (16, 90),
                (2, 88),
                (8, 30),
            ]
        ],
        [],
    ),
    # Dress: narrow waist, wide hem
    ([[(38, 5), (62, 5), (64, 30), (60, 42), (78, 96), (22, 96), (40, 42), (36, 30)]], []),
    # Coat: long body, open front
    (
        [
            [
                (34, 6),
                (66, 6),
                (88, 22),
                (94, 80),
                (80, 82),
                (76, 40),
                (78, 97),
                (22, 97),
                (24, 40),
                (20, 82),
                (6, 80),
                (12, 22),
            ]
        ],
        [[(49, 10), (51, 10), (52, 97), (48, 97)]],
    ),
    # Sandal: sole and two straps
    (
        [
            [(4, 72), (96, 78), (96, 86), (4, 84)],
            [(20, 74), (40, 46), (48, 48), (30, 76)],
            [(52, 76), (74, 40), (94, 76), (86, 78), (74, 54), (62, 78)],
        ],
        [],
    ),
    # Shirt: long sleeves held apart, collar
    (
        [
            [
                (36, 8),
                (50, 18),
                (64, 8),
                (84, 20),
                (99, 62),
                (87, 68),
                (74, 40),
                (73, 92),
                (27, 92),
                (26, 40),
                (13, 68),
                (1, 62),
                (16, 20),
            ]
        ],
        [],
    ),
    # Sneaker: low shoe
    (
        [[(4, 54), (26, 48), (44, 36), (60, 46), (90, 60), (97, 76), (4, 78)]],
        [[(14, 70), (90, 72), (90, 74), (14, 72)]],
    ),
    # Bag: box with a handle
    (
        [[(10, 42), (90, 42), (94, 90), (6, 90)], [(28, 44), (36, 14), (64, 14), (72, 44)]],
        [[(35, 42), (41, 21), (59, 21), (65, 42)]],
    ),
    # Ankle boot: a shaft over the shoe
    ([[(40, 8), (74, 8), (74, 46), (92, 60), (97, 82), (92, 92), (10, 92), (8, 74), (36, 58)]], []),
]


def _template(outlines: list[Outline], holes: list[Outline]) -> NDArray[np.float32]:
    """Draw one garment as a soft mask in [0, 1] of TEMPLATE_SIZE x TEMPLATE_SIZE."""
    scale = TEMPLATE_SIZE / 100
    image = Image.new("L", (TEMPLATE_SIZE, TEMPLATE_SIZE))
    draw = ImageDraw.Draw(image)
    for shapes, shade in ((outlines, 255), (holes, 0)):
        for outline in shapes:
            draw.polygon([(x * scale, y * scale) for x, y in outline], fill=shade)
    return np.asarray(image.filter(ImageFilter.GaussianBlur(2)), dtype=np.float32) / np.float32(255)


def _photograph(
    template: NDArray[np.float32], count: int, rng: np.random.Generator
) -> NDArray[np.uint8]:
    """Return images (count, 28, 28) of one garment, each with its own pose and cloth."""

    def draw(low: float, high: float) -> NDArray[np.float32]:
        return rng.uniform(low, high, (count, 1, 1)).astype(np.float32)

    centre = (IMAGE_SIZE - 1) / 2
    y, x = np.mgrid[:IMAGE_SIZE, :IMAGE_SIZE].astype(np.float32) - centre
    angle, shear = draw(-0.3, 0.3), draw(-0.25, 0.25)
    width, height = draw(0.7, 1.1), draw(0.7, 1.1)
    shift_x, shift_y = draw(-2, 2), draw(-2, 2)

    u = (np.cos(angle) * x - np.sin(angle) * y) / width + shear * y - shift_x
    v = (np.sin(angle) * x + np.cos(angle) * y) / height - shift_y
    zoom = TEMPLATE_SIZE / IMAGE_SIZE
    column = np.rint((u + centre) * zoom + zoom / 2).astype(np.int32)
    row = np.rint((v + centre) * zoom + zoom / 2).astype(np.int32)
    inside = (column >= 0) & (column < TEMPLATE_SIZE) & (row >= 0) & (row < TEMPLATE_SIZE)
    mask = np.where(
        inside, template[row.clip(0, TEMPLATE_SIZE - 1), column.clip(0, TEMPLATE_SIZE - 1)], 0
    )

    stripes = np.sin(u * draw(0.2, 1.8) + v * draw(-1.2, 1.2) + draw(0, 6.3))
    cloth = draw(0.35, 0.9) + draw(0, 0.3) * stripes + draw(-0.015, 0.015) * v
    grain = rng.normal(0, 1, mask.shape).astype(np.float32)
    image = mask * (cloth + 0.08 * grain) + 0.06 * draw(0, 1) * np.abs(grain)
    photographs: NDArray[np.uint8] = (image.clip(0, 1) * 255).astype(np.uint8)
    return photographs


def fashion(count: int, seed: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return look-alike images (count, 28, 28) and labels (count,), with classes balanced."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(count) % len(GARMENTS)).astype(np.uint8)
    images = np.empty((count, IMAGE_SIZE, IMAGE_SIZE), dtype=np.uint8)
    for label, (outlines, holes) in enumerate(GARMENTS):
        members = np.flatnonzero(labels == label)
        images[members] = _photograph(_template(outlines, holes), len(members), rng)
    return images, labels


def airfoil(seed: int) -> NDArray[np.float64]:
    """Return a table like the airfoil set's (1503, 6): five features and a noisy linear target.

    The columns have the original's meanings and approximate ranges: frequency (Hz), angle
    (degrees), chord (m), speed (m/s), displacement thickness (m), sound pressure (dB).
    """
    rng = np.random.default_rng(seed)
    low = np.array([200, 0, 0.0254, 31.7, 0.0004])
    high = np.array([20000, 22.2, 0.3048, 71.3, 0.0584])
    unit = rng.uniform(0, 1, (1503, 5))
    sound = 125 + unit @ np.array([-9, -4, -7, 4, -5]) + rng.normal(0, 5, 1503)
    return np.column_stack([low + unit * (high - low), sound])
