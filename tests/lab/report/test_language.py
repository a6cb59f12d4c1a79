"""What is said in which language."""

from lab.report.language import ENGLISH, language, say, speaking


def test_another_language_is_spoken_for_as_long_as_its_context_lasts():
    assert language() == ENGLISH
    with speaking("zh", {"{n} dogs": "{n} 只狗"}):
        assert (language(), say("{n} dogs", n=2), say("{n} cats", n=2)) == (
            "zh",
            "2 只狗",
            "2 cats",
        )
    assert say("{n} dogs", n=2) == "2 dogs"
