"""A record next to the committed results, as a notebook shows them."""

import pytest

from lab.claims.ledger import ledger
from lab.tools.record.reference_table import reference_table
from lab.tools.references import judged, path_of
from tests.helpers import COMMITTED

OF_GPUS = {"gpu", "two_gpus", "pair_of_gpus"}


@pytest.fixture
def table(monkeypatch):
    """Return a function that reads a reference's table: its head, and its cells by claim."""
    monkeypatch.chdir(COMMITTED)

    def read(name):
        head, _, *rows = (
            [cell.strip() for cell in line.strip("|").split(" | ")]
            for line in reference_table(name).splitlines()
        )
        return head, {id_: cells for id_, _, *cells in rows}

    return read


def test_the_table_has_the_claims_that_gpus_decide_with_each_machines_verdict(table):
    head, found = table("h100")
    assert head[:4] == ["claim", "it says", "h100", "committed"]
    record = judged(path_of("h100"))
    of_gpus = [claim for claim in ledger() if OF_GPUS & {need.name for need in claim.needs}]
    verdicts = {claim.id: record.judgements[claim.id].verdict.value for claim in of_gpus}
    assert found.keys() == verdicts.keys()
    signs = {"confirmed": "✓", "refuted": "✗", "inconclusive": "≈", "not testable here": "–"}
    for claim, cells in found.items():
        assert cells[0][0] == signs[verdicts[claim]]
    assert any(cells[0][0] == "✓" for cells in found.values())


def test_other_gpus_have_columns_and_other_processors_have_none(table):
    head, found = table("intel-xeon-avx512")
    assert head[2:4] == ["intel-xeon-avx512", "committed"]
    assert "h100" in head
    assert "amd-epyc-avx2-study" not in head
    assert {cells[0] for cells in found.values()} == {"–"}, "no GPU"
    assert any(cells[head.index("h100") - 2] != "–" for cells in found.values())
