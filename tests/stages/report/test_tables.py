"""Tables of pages: each number is in the column that names it, in both languages."""

import itertools
import re

import pytest

from lab.results.findings import exact
from lab.results.measurements import Measurement, Results
from stages.bench_parallel.page.figures import by_size
from stages.bench_training.page.figures import peaks
from stages.scaling.measure.names import AT_LAST, AT_ONCE, COMPUTING
from stages.scaling.page.figures import buckets


def measured(experiment: str, variant: str, x: float, ms: float, **columns: str) -> Measurement:
    return Measurement(experiment, variant, x, (ms,) * 8, "ms", columns=columns)


SEQUENTIAL, CONCURRENT = {8: 30.0, 64: 55.0}, {8: 20.0, 64: 22.0}
PRODUCTS = [
    *(measured("products", "sequentially", x, ms) for x, ms in SEQUENTIAL.items()),
    *(measured("products", "concurrently", x, ms) for x, ms in CONCURRENT.items()),
]
STEPS = [
    measured("step", COMPUTING, 32, 10.0, net="resnet18"),
    measured("bucket step", AT_LAST, 25, 47.0, net="resnet18"),
    measured("bucket step", AT_ONCE, 25, 21.0, net="resnet18"),
]
NAMES = itertools.product(("lenet", "resnet18"), ("fp32", "tf32", "bf16"), ("peak", "limit"))
SHARES = {
    f"{net}_{precision}_of_{what}": exact(percent / 100)
    for percent, (net, precision, what) in enumerate(NAMES, 11)
}
TABLES = {  # by stage and the rows' name in its texts: the rows, and their cells without intervals
    ("bench_parallel", "sizes"): (
        by_size(Results(PRODUCTS)),
        ["8 × 8|30 ms|20 ms|1.5", "64 × 64|55 ms|22 ms|2.5"],
    ),
    ("scaling", "buckets"): (list(buckets(Results(STEPS))), ["25|37|11"]),
    ("bench_training", "peaks"): (
        peaks(SHARES),
        [
            "LeNet, float32|11%|12%",
            "LeNet, TensorFloat-32|13%|14%",
            "LeNet, bfloat16|15%|16%",
            "ResNet-18, float32|17%|18%",
            "ResNet-18, TensorFloat-32|19%|20%",
            "ResNet-18, bfloat16|21%|22%",
        ],
    ),
}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(("stage", "name"), TABLES)
def test_each_number_is_in_the_column_that_names_it(render, stage, name, language):
    rows, cells = TABLES[stage, name]
    html = re.sub(" ?[(（][^<]*[)）]", "", render(stage, language, **{name: rows}).html)
    shown = [
        "|".join(re.findall("<td[^>]*>(.*?)</td>", row)).replace("毫秒", "ms")
        for row in re.findall("(?s)<tr>(.*?)</tr>", html)
    ]
    assert [row for row in shown if row in cells] == cells
