"""Sections have the numbers and addresses that https://d2l.ai and https://zh.d2l.ai give them."""

import pytest

from lab.report.book import PATHS, chapter_number, page_of, section_list
from lab.report.language import CHINESE, locale

ON_THE_WEB = {  # copied from the tables of contents there
    "12.1": ("11.1", "optimization/optimization-intro"),
    "12.6": ("11.6", "optimization/momentum"),
    "12.11": ("11.11", "optimization/lr-scheduler"),
    "13.1": ("12.1", "computational-performance/hybridize"),
    "13.5": ("12.5", "computational-performance/multiple-gpus"),
    "13.7": ("12.7", "computational-performance/parameterserver"),
}


@pytest.mark.parametrize("section", ON_THE_WEB)
def test_a_section_has_its_number_and_page_in_each_edition(section):
    number, page = ON_THE_WEB[section]
    assert page_of(section) == (section, f"https://d2l.ai/chapter_{page}.html")
    assert chapter_number("12") == "12"
    with locale(CHINESE):
        assert page_of(section) == (number, f"https://zh.d2l.ai/chapter_{page}.html")
        assert chapter_number("12") == "11"


def test_every_section_of_both_chapters_is_there():
    assert len(PATHS) == len(set(PATHS.values())) == 11 + 7


def test_consecutive_sections_are_written_as_a_range():
    sections = ("12.3", "12.6", "12.7", "12.8", "13.5", "13.7")
    assert section_list(sections) == "12.3, 12.6–12.8, 13.5, 13.7"
    with locale(CHINESE):
        assert section_list(sections) == "11.3、11.6–11.8、12.5、12.7"
