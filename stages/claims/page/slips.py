"""Slips of the notes that need no measurement: misprints, and words that their own code denies."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Slip:
    """What stands at some places of the notes, and what is right; messages of the catalogues."""

    places: str
    stands: str
    right: str


SLIPS = (
    Slip(
        "000:49",
        "Sequential is replaced by HybridSequential.",
        "That is MXNet's; the code scripts the network by torch.jit.script.",
    ),
    Slip(
        "000:343",
        "The all-reduce sums or averages.",
        "It sums; a mean would make the step of two devices half as long.",
    ),
    Slip(
        "000:374",
        "Data are synchronised by allreduce and split_and_load.",
        "No note defines split_and_load; the code calls split_batch.",
    ),
    Slip("001:404", "5. Update the gradient.", "The parameters are updated."),
)
