"""Compare a record with the committed results and the records of other GPUs."""

from lab.claims.verdicts import judge_all
from lab.core.files import REPORTS
from lab.report.language import in_markdown, localized
from lab.report.side_by_side import cell, needs_gpu
from lab.results.derived import whatever_is_under
from lab.tools.references import REFERENCE, judged, path_of


def reference_table(name: str) -> str:
    """Return a Markdown table of the record's verdicts on claims that need a GPU, next to others'.

    Raises:
        ParamsError: `path_of` rejects the name.
        DataError: a reference is missing or damaged.
    """
    record = judged(path_of(name))
    committed = judge_all(whatever_is_under(REPORTS))
    machines = {record.name: record.judgements, "committed": {f.claim.id: f for f in committed}}
    for path in sorted(REFERENCE.glob("*.json")):
        other = judged(path)
        if other.hardware["accelerator"]["count"]:
            machines.setdefault(other.name, other.judgements)
    rows = [
        [f.claim.id, localized(f.claim.says), *(cell(f.claim, m) for m in machines.values())]
        for f in record.judgements.values()
        if needs_gpu(f.claim)
    ]
    table = [["claim", "it says", *machines], ["---"] * (2 + len(machines)), *rows]
    return "\n".join(f"| {' | '.join(map(in_markdown, row))} |" for row in table)
