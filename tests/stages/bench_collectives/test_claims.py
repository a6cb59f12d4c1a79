"""The rules of the claims about summing gradients."""

from tests.claim_cases import CONFIRMED, check_made_up
from tests.made_up import LINK
from tests.stages.bench_collectives.made_up import NETS


def test_made_up_results_come_to_the_verdict_and_the_number_that_they_were_made_for():
    """Between GPUs the library is a ring: of two, half of the bytes in each of two messages."""
    tensors, size = NETS["resnet18"]
    by_bytes = size * LINK.s_per_byte + size / 2 * LINK.add_s_per_byte
    number = 2 * LINK.alpha_s
    by_notes = 2 * tensors * LINK.alpha_s + 2 * size * LINK.s_per_byte + size * LINK.add_s_per_byte
    check_made_up(
        "bench_collectives",
        {
            "E3b": (CONFIRMED, by_notes / (by_bytes + number)),
            "G12g": (CONFIRMED, 100 * by_bytes / (by_bytes + number)),
        },
    )
