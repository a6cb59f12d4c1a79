"""Conditions that a question's page names: device, machine, load and noise."""

import re
import shutil

import pytest

from lab.core.files import CONDITIONS, read_json, write_json
from tests import made_up
from tests.helpers import COMMITTED, hardware

STAGE = "bench_parallel"
HERE = {"en": "measured here", "zh": "在此测量"}


@pytest.fixture
def page(render, tmp_path, monkeypatch):
    """Return a function that renders the page of made-up results, with some conditions changed."""
    monkeypatch.chdir(tmp_path)
    reports = tmp_path / "reports"
    write_json(reports / "hardware.json", hardware("Zen"))
    shutil.copy(COMMITTED / "params.yaml", tmp_path)

    def html(language: str, kind: str = "cpu-virtual", **changed: object) -> str:
        made_up.write(STAGE, reports, kind)
        path = reports / STAGE / CONDITIONS
        write_json(path, read_json(path) | {"machine": hardware("Zen")} | changed)
        return render(STAGE, language).html

    return html


def trust_box(html: str) -> list[str]:
    box = html.split('<details id="data">')[1].split("<ul>")[1:-1]
    return re.findall("<li>(.*?)</li>", "".join(box))


@pytest.mark.parametrize("language", HERE)
@pytest.mark.parametrize(
    ("kind", "device"), [("cpu-virtual", "CPU"), ("cuda", "GPU"), ("cuda-shared", "GPU")]
)
def test_only_the_device_of_the_results_is_called_measured_here(page, kind, device, language):
    begun = re.findall("<strong>([^<]*(?:CPU|GPU)[^<]*[:：])</strong>", page(language, kind))
    assert [("CPU" in words, HERE[language] in words) for words in begun] == [
        (True, device == "CPU"),
        (False, device == "GPU"),
    ]


@pytest.mark.parametrize("language", HERE)
def test_a_page_names_the_machine_of_its_results_and_no_other(page, language):
    signed = page(language, machine=hardware("Xeon", ["H200"])).split('<div class="answer">')[0]
    assert "Xeon" in signed and "H200" in signed
    assert "Zen" not in signed
    assert "Zen" in page(language).split('<div class="answer">')[0]


CONTROLS = {"controls": 31, "false_speedups": 17, "control_over": 5, "control_under": 0}


@pytest.mark.parametrize("language", HERE)
@pytest.mark.parametrize(
    ("condition", "told", "more"),
    [
        ({"busy_percent": 13.0}, ["13%"], 1),
        ({"busy_percent": 9.0}, [], 0),
        ({"noisy_percent": 47.0}, ["47%"], 0),
        ({"noisy_percent": 53.0}, ["53%", "invoke remeasure --stage bench_parallel"], 1),
        (CONTROLS, ["31", "17"], 1),
        ({"starts": 29}, ["29"], 0),
    ],
)
def test_each_condition_that_raises_doubt_is_named(page, condition, told, more, language):
    quiet = {"starts": 12, "busy_percent": 0.0, "noisy_percent": 0.0, "controls": 0}
    before, now = (trust_box(page(language, **quiet | each)) for each in ({}, condition))
    assert before, "on which devices, at least"
    assert len(now) == len(before) + more
    assert all(any(words in each for each in now) for words in told)
    assert not any(words in each for each in before for words in told)


def test_numbers_that_decide_nothing_are_told_on_no_other_page(page, render):
    page("en", busy_percent=0.0)
    assert render(STAGE, "en").values["speedup"]
    page("en", busy_percent=50.0)
    assert render(STAGE, "en").values == {}
