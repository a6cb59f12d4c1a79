"""The rules of the claims about replicas, and their verdicts on made-up results."""

from lab.results.curves import rows_of
from stages.replicas.measure.names import (
    ALIASING,
    IN_PLACE,
    LOCAL,
    ONE_DEVICE,
    REBINDING,
    RUNNING_STATISTICS,
    SEPARATE,
    WEIGHTS,
    replica_of,
)
from stages.replicas.page.claims import CLAIMS
from tests.claim_cases import CONFIRMED, INCONCLUSIVE, NOT_TESTABLE, REFUTED
from tests.helpers import verdicts
from tests.stages.replicas.made_up import (
    ACCURACIES,
    ENDS,
    NORM_ACCURACIES,
    PARAMS,
    replicas_curves,
    replicas_metrics,
)

RECIPE = {"D11", "D12a", "D12e", "D12f"}  # need the notes' ten epochs
BY_SEED = RECIPE | {"D2b", "D2c", "G9"}
HERE = {
    "D2b": REFUTED,
    "D2c": REFUTED,
    "D5": REFUTED,
    "D5b": REFUTED,
    "D5c": CONFIRMED,
    "D5d": CONFIRMED,
    "D6a": CONFIRMED,
    "D6b": REFUTED,
    "D6c": CONFIRMED,
    "D6d": REFUTED,
    "D6e": CONFIRMED,
    "D6f": REFUTED,
    "D6g": CONFIRMED,
    "D7a": CONFIRMED,
    "D7b": REFUTED,
    "D10a": REFUTED,
    "D11": CONFIRMED,
    "D12a": CONFIRMED,
    "D12b": CONFIRMED,
    "D12c": REFUTED,
    "D12e": CONFIRMED,
    "D12f": REFUTED,
    "G9": REFUTED,
    "E3": CONFIRMED,
    "E3e": REFUTED,
    "E3f": REFUTED,
}


def of(curves, params=PARAMS):
    return verdicts(CLAIMS, "replicas", replicas_metrics(curves, params), rows_of(curves))


def test_replicas_that_are_one_network_where_the_book_has_them_so():
    assert of(replicas_curves()) == HERE


def test_the_opposite():
    opposite = replicas_curves(
        ENDS | {IN_PLACE: (0.02, 1e-9), REBINDING: (1e-7, 0.0), ALIASING: (1e-7, 0.0)},
        batch_norm_change=1e-5,
        accuracies=ACCURACIES
        | {ONE_DEVICE: 75.0, replica_of(REBINDING, 1): 70.0, replica_of(REBINDING, 2): 75.0},
        norm_accuracies=NORM_ACCURACIES | {LOCAL: 70.0, SEPARATE: 75.5},
        differ_in={WEIGHTS: 1e-3, RUNNING_STATISTICS: 0.0},
    )
    changed = {k for k in HERE if not k.startswith(("D5b", "D5c", "D5d", "D7", "D10", "E3f"))}
    changed -= {"D6c", "D6d", "D6e", "D6f", "D6g"}
    found = of(opposite)
    assert {k for k in HERE if found[k] is not HERE[k]} == changed


def test_few_seeds_decide_nothing():
    found = of(replicas_curves(seeds=range(3)))
    assert {k for k, verdict in found.items() if verdict is INCONCLUSIVE} == BY_SEED


def test_another_recipe_than_the_notes_decides_nothing_about_theirs():
    short = PARAMS.accuracy.model_copy(update={"num_epochs": 2})
    found = of(replicas_curves(), PARAMS.model_copy(update={"accuracy": short}))
    assert {k for k, verdict in found.items() if verdict is NOT_TESTABLE} == RECIPE
