"""Sections have the numbers and addresses that https://d2l.ai and https://zh.d2l.ai give them."""

import pytest

from lab.report.book import BOOK, PAGES, SECTIONS, chapter_number, page_of
from lab.report.language import CHINESE, ENGLISH, speaking

ON_THE_WEB = {  # typed from the tables of contents there
    "2.5": ("preliminaries/autograd", "2.5", "preliminaries/autograd"),
    "3.6": ("linear-regression/generalization", "4.4", "multilayer-perceptrons/underfit-overfit"),
    "3.7": ("linear-regression/weight-decay", "4.5", "multilayer-perceptrons/weight-decay"),
    "4.2": (
        "linear-classification/image-classification-dataset",
        "3.5",
        "linear-networks/image-classification-dataset",
    ),
    "4.4": (
        "linear-classification/softmax-regression-scratch",
        "3.6",
        "linear-networks/softmax-regression-scratch",
    ),
    "5.4": (
        "multilayer-perceptrons/numerical-stability-and-init",
        "4.8",
        "multilayer-perceptrons/numerical-stability-and-init",
    ),
    "5.6": ("multilayer-perceptrons/dropout", "4.6", "multilayer-perceptrons/dropout"),
    "8.5": ("convolutional-modern/batch-norm", "7.5", "convolutional-modern/batch-norm"),
    "10.1": ("recurrent-modern/lstm", "9.2", "recurrent-modern/lstm"),
    "11.7": (
        "attention-mechanisms-and-transformers/transformer",
        "10.7",
        "attention-mechanisms/transformer",
    ),
    "12.11": ("optimization/lr-scheduler", "11.11", "optimization/lr-scheduler"),
    "13.5": (
        "computational-performance/multiple-gpus",
        "12.5",
        "computational-performance/multiple-gpus",
    ),
}


@pytest.mark.parametrize("section", ON_THE_WEB)
def test_a_section_has_its_number_and_page_in_each_edition(section):
    english, number, chinese = ON_THE_WEB[section]
    assert page_of(section) == (section, f"https://d2l.ai/chapter_{english}.html")
    with speaking(CHINESE):
        assert page_of(section) == (number, f"https://zh.d2l.ai/chapter_{chinese}.html")


@pytest.mark.parametrize(("chapter", "chinese"), [("4", "3"), ("5", "4"), ("9", "8"), ("13", "12")])
def test_a_chapter_has_its_number_in_each_edition(chapter, chinese):
    assert chapter_number(chapter) == chapter
    with speaking(CHINESE):
        assert chapter_number(chapter) == chinese


def test_what_the_chinese_edition_lacks_leads_to_the_english_one():
    with speaking(CHINESE):
        assert page_of("8.8") == (
            "英文版 8.8",
            "https://d2l.ai/chapter_convolutional-modern/cnn-design.html",
        )


def test_a_name_means_one_page_of_an_edition():
    for edition, pages in PAGES.items():
        assert len(pages) == sum(map(len, BOOK[edition].values()))
    assert set(BOOK["renamed"]) <= set(PAGES[ENGLISH]) - set(PAGES[CHINESE])
    assert set(BOOK["renamed"].values()) <= set(PAGES[CHINESE]) - set(PAGES[ENGLISH])
    assert len(SECTIONS) == len(PAGES[ENGLISH])
