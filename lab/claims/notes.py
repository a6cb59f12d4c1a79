"""The five course notes, and places in them: `000:427`, or `001:62-70`, several after a blank.

`book:13.5` is the book's executed notebook of that section. Line numbers are those of the notes as
text files; the heading above a line says where that is.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Note:
    """A course note: its title, its number of lines, and its headings by line."""

    title: str
    lines: int
    headings: Mapping[int, str]


NOTES = {
    "000": Note(
        "Compilers, asynchronous computation, automatic parallelism, training on several GPUs",
        560,
        {
            1: "编译器和解释器",
            18: "符号式编程",
            47: "Sequential的混合式编程",
            77: "通过混合式编程加速",
            112: "序列化",
            122: "异步计算",
            133: "通过后端异步处理",
            184: "自动并行",
            192: "基于GPU的并行计算",
            233: "并行计算与通信",
            259: "多GPU训练",
            260: "数据并行性",
            273: "简单网络",
            308: "数据同步",
            348: "数据分发",
            372: "训练",
            433: "多GPU的简洁实现",
            443: "简单网络",
            487: "网络初始化",
            497: "训练",
        },
    ),
    "001": Note(
        "Optimization algorithms and computational performance",
        685,
        {
            1: "6 优化算法和计算性能",
            3: "6.1 优化算法理论",
            7: "6.1.1 优化和深度学习",
            80: "6.2 优化算法",
            82: "6.2.1 动量法",
            141: "6.2.2 AdaGrad算法",
            242: "6.2.3 Adam算法",
            322: "6.3 预热",
            333: "6.2 计算性能",
            337: "6.2.1 深度学习硬件: CPU 和 GPU",
            339: "6.2.1.1 CPU",
            352: "6.2.1.2 GPU",
            367: "6.2.1.3 其他计算处理器",
            382: "6.2.2 单机多卡并行",
            419: "6.2.3 分布式计算",
            421: "6.2.3.1 基础概念",
            456: "6.2.3.2 代码实践",
            680: "6.2.3.4 总结",
        },
    ),
    "002": Note(
        "Training on several GPUs, from scratch and concisely",
        333,
        {
            1: "多GPU训练",
            20: "简单网络",
            54: "数据同步",
            108: "数据分发",
            129: "训练",
            208: "简洁实现",
            249: "训练",
        },
    ),
    "003": Note(
        "A concise implementation for several GPUs",
        100,
        {1: "11.6 多GPU的简洁实现", 14: "6 多GPU的简洁实现", 49: "6.2 网络初始化", 62: "6.3 训练"},
    ),
    "004": Note("Training on several GPUs: a notebook", 141, {1: "In [1]"}),
}
BOOK = "book"
_PLACE = re.compile(r"(00[0-4]):(\d+)(?:-(\d+))?|book:(1[23]\.\d{1,2})")


@dataclass(frozen=True)
class Place:
    """Lines of a note, or a section of the book's notebooks: then `first` and `last` are 0."""

    source: str
    first: int = 0
    last: int = 0
    section: str = ""

    @property
    def heading(self) -> str:
        """The heading above it; of the book, the section."""
        if self.source == BOOK:
            return self.section
        above = [line for line in NOTES[self.source].headings if line <= self.first]
        return NOTES[self.source].headings[max(above)]


def places_of(text: str) -> Iterator[Place]:
    """The places that a text names.

    Raises:
        ValueError: it names no place, or one that does not exist.
    """
    if not text.split():
        raise ValueError("expected a place such as 000:427")
    for word in text.split():
        found = _PLACE.fullmatch(word)
        if not found:
            raise ValueError(f"expected a place such as 000:427, got {word!r}")
        note, first, last, section = found.groups()
        if section:
            yield Place(BOOK, section=section)
            continue
        start, end = int(first), int(last or first)
        if not 1 <= start <= end <= NOTES[note].lines:
            raise ValueError(f"{word}: note {note} has lines 1 to {NOTES[note].lines}")
        yield Place(note, start, end)
