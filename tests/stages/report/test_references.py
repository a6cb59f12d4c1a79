"""This machine beside references, some of which are not what they should be."""

import shutil

from lab.core.files import read_json, write_json
from lab.tools import references as recorded
from stages.report import references
from tests import made_up
from tests.helpers import draw

HARDWARE = {"accelerator": {"names": None}, "cpu": {"model": "this CPU", "usable_cores": 2}}


def test_references_stand_beside_this_machine_and_what_is_none_is_left_out(project):
    reports = project / "reports"
    for stage in ("bench_training", "bench_parallel"):
        made_up.write(stage, reports)
    write_json(reports / "hardware.json", HARDWARE)
    alone = references.section(reports)
    assert "invoke snapshot NAME" in alone.findings[0]
    path = recorded.snapshot("first")
    other = read_json(path)
    other["name"], other["hardware"]["accelerator"]["names"] = "server", ["H9000", "H9000"]
    other["stages"]["bench_training"]["metrics"]["lenet_fp32_speedup"] = 50.0
    other["stages"]["bench_training"]["metrics"]["lenet_fp32_speedup_high"] = 60.0
    other["stages"]["bench_parallel"] = "skipped: no time left"
    write_json(path.with_name("server.json"), other)
    shutil.copy(reports / "hardware.json", path.with_name("foreign.json"))
    path.with_name("broken.json").write_text("{")
    part = references.section(reports)
    assert part.findings[0].endswith("first (this CPU, 2 cores, no GPU), server (H9000, H9000).")
    [table] = part.tables
    assert table.header == ["", "this machine", "first", "server"]
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["LeNet, engine over the notes' way"] == [
        "3x (3 to 3)",
        "3x (3 to 3)",
        "50x (3 to 60)",
    ]
    assert rows["two devices together over in turn"] == [
        "1.6x (1.6 to 1.6)",
        "1.6x (1.6 to 1.6)",
        "–",
    ]
    assert rows["TorchScript over eager"] == ["–"] * 3
    draw(part, project / "figures")
    drawn = (project / "figures" / "references.svg").read_text()
    assert "server" in drawn
    assert "foreign" not in drawn
