import torch

from stages.bench_hardware.measure.matmul import PRODUCTS


def test_every_arm_is_the_product():
    for shape in ((3, 4, 5), (7, 9, 130), (1, 1, 1)):
        rows, inner, columns = shape
        A, B = torch.rand(rows, inner), torch.rand(inner, columns)
        for arm, product in PRODUCTS.items():
            torch.testing.assert_close(
                product(A, B), A @ B, msg=lambda m, case=(arm, shape): f"{case}: {m}"
            )
