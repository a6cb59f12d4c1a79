"""This machine beside references, some of which are not what they should be."""

import json
import shutil

from lab.claims.rules import at_least, decide, median
from lab.claims.verdicts import Finding, rows_of
from lab.core.files import read_json, write_json, write_rows
from lab.report.language import speaking
from lab.tools import references as recorded
from lab.tools.profiles import in_use
from stages.report import catalogue, references
from tests import made_up
from tests.helpers import ROOT, claim_of, committed_params, edit_params, hardware


def test_stages_offer_the_ratios_to_compare():
    """Each once, under its own label, with an interval in what the stage summarises."""
    offered = references.headlines()
    assert len({(each.stage, each.metric) for each in offered}) == len(offered) >= 8
    assert len({each.label for each in offered}) == len(offered)
    for each in offered:
        made = made_up.measurements(each.stage, "cpu-virtual")
        found = made_up.metrics(each.stage, made, "cpu-virtual")
        for end in ("", "_low", "_high"):
            assert each.metric + end in found, each


def test_references_stand_beside_this_machine_and_what_is_none_is_left_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "profiles", tmp_path / "profiles")
    (tmp_path / "params.yaml").write_text(committed_params())
    reports = tmp_path / "reports"
    for stage in ("bench_overlap", "bench_parallel"):
        made_up.write(stage, reports)
        path = reports / stage / "conditions.json"
        write_json(path, read_json(path) | {"machine": hardware("this CPU")})
    overlap = next(each for each in references.headlines() if each.stage == "bench_overlap")
    write_json(reports / "hardware.json", hardware("this CPU"))

    def nothing_to_compare_with() -> bool:
        section = references.section(reports)
        return "invoke snapshot NAME" in section.answer and not (section.figures or section.tables)

    assert nothing_to_compare_with()
    path = recorded.snapshot("first")
    assert references.references_in(reports) == [], "what is shown is no reference to itself"
    assert references.damaged_in(reports) == []
    assert nothing_to_compare_with()
    other = read_json(path)
    other["name"], other["hardware"]["accelerator"]["names"] = "server", ["H9000", "H9000"]
    other["stages"]["bench_overlap"]["metrics"] |= {
        overlap.metric: 50.0,
        f"{overlap.metric}_low": 3.0,
        f"{overlap.metric}_high": 60.0,
    }
    other["stages"]["bench_parallel"] = "skipped: no time left"
    server = path.with_name("server.json")
    write_json(server, other)
    shutil.copy(reports / "hardware.json", path.with_name("foreign.json"))
    path.with_name("broken.json").write_text("{")
    path.with_name("claims.json").write_text(json.dumps({**other, "claims": [{"id": "A6a"}]}))
    part = references.section(reports)
    damaged = references.damaged_in(reports)
    assert [line.split(": damaged (")[0].split("/")[-1] for line in damaged] == [
        "broken.json",
        "claims.json",
        "foreign.json",
    ]
    assert part.findings == [f"Left out: {line}." for line in damaged]
    assert all("; `git checkout " in line for line in damaged)
    assert part.figures[0].caption.endswith("reference 1: server (H9000, H9000; profile laptop).")
    [table] = part.tables
    assert table.header == ["", "this machine", "server"]
    [[label, here, there]] = table.rows
    assert (label, there) == (overlap.label, "50x (3 to 60)"), "nobody else has the other ratios"
    assert here != there
    for figure in part.figures:
        figure.draw(tmp_path / "figures")
    drawn = (tmp_path / "figures" / "references.svg").read_text()
    assert "reference 1" in drawn
    assert "reference 2" not in drawn, "what is none is left out"

    edit_params({"bench.starts": 3})
    write_json(server, other | {"profile": in_use()})
    [figure] = references.section(reports).figures
    assert figure.caption.endswith("reference 1: server (H9000, H9000; params of its own).")

    a6a, undecided = (
        Finding(claim_of("A6a"), decide(e, at_least(1.02)), e, "cpu", "")
        for e in (median([1.2] * 8), median([1.2] * 3))
    )
    write_rows(reports / "claims", rows_of([undecided]))
    write_json(server, {**other, "claims": rows_of([a6a])})
    _, verdicts = references.section(reports).tables
    [[name, _, *found]] = verdicts.rows
    assert (name, found) == (
        "A6a",
        ["≈ 1.2 (1.2 to 1.2: 75.0 % of 3 starts)", "✓ 1.2 (1.2 to 1.2: 99.2 % of 8 starts)"],
    )
    chinese = catalogue.read("zh")
    with speaking("zh", chinese):
        table, _ = references.section(reports).tables
    assert [row[0] for row in table.rows] == [chinese[overlap.label]]
