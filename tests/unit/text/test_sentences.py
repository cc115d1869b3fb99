"""Sentence segmentation: lossless, natural boundaries, linear time."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.text.sentences import split_sentences

CASES = [
    (
        "digits, capitals and brackets before the full stop",
        "Revenue was 5 in 2024.¦ It fell in 2025.¦ The CEO is from NASA.¦ She left (early).¦ Bye.",
    ),
    ("titles and initials", "Dr. Smith met J. R. R. Tolkien and George W. Bush.¦ They left."),
    (
        "times and countries",
        "It began at 5 p.m. on Monday.¦ The U.S. Army left.¦ We live in the U.S.¦ It is big.",
    ),
    ("numbers and addresses", "Version 3.14 is at https://example.org/a.b?c=1.¦ It costs 2.5 million."),
    ("ellipses", "Well... maybe not.¦ Wait…¦ Yes."),
    ("questions and cries", "Really?!¦ Yes!¦ Good."),
    ("quotations that go on", '"Stop!" he said.¦ He said "Go."¦ She went.'),
    ("a whole sentence in brackets", "(He left. She stayed.)¦ Then it rained."),
    ("a reference in brackets", "It grew (see Fig. 3. It is red) a lot.¦ Then it fell."),
    ("companies", "Apple Inc. Smith and Co. rose.¦ We sold Apple Inc.¦ The rest stays."),
    ("figures", "See Fig. 3 and No. 5 on p. 12.¦ Then stop.¦ They said no.¦ We went."),
    ("German ordinals", "Am 3. Oktober 1990 war es so.¦ Im 19. Jahrhundert, z. B. früher, nicht."),
    ("German abbreviations", "Das gilt d.h. nach Abs. 2 Nr. 4 bzw. Art. 5.¦ Danach nicht.¦ Dr. Maier kam."),
    ("Spanish", "El Sr. Pérez llegó a EE. UU. en 1990.¦ ¿Vino solo?¦ ¡Sí!¦ Fin."),
    ("French", "M. Dupont est là.¦ Mme. Curie aussi, p. ex. hier.¦ Voir p. 3.¦ Fin."),
    ("Chinese", "今天天气很好。¦你去吗？¦去！¦先去；¦再回。¦他说：“你好。”¦她走了。"),
    ("Japanese", "これは本です。¦「はい。」と言った。¦次です。"),
    ("Hindi and Arabic", "यह घर है। ¦वह आया।¦ هل أنت هنا؟¦ نعم."),
    ("emphasis", "**The bold one.**¦ Next one."),
    ("markers after the full stop", "First.[1]¦ Second. [2]¦ Third [3].¦ Fourth【4】。¦Fifth"),
    ("list items", "Steps:\n¦1. Open it.\n¦2. Close it.¦ Now.\n¦- a\n¦- b"),
    ("paragraphs and short lines", "One\n\n¦Two\n¦Three"),
    (
        "a wrapped line",
        "This is a long line of wrapped text that goes on and on and\ncontinues on the next.¦ Then ends.",
    ),
    ("an item that goes on", "- item A\n  goes on.¦ Yes\n¦- item B"),
    ("headings and tables", "# Head\n¦Text\n¦| a | 1. B. C |\n¦| c | d |\n¦After"),
]


@pytest.mark.parametrize("marked", [case for _, case in CASES], ids=[name for name, _ in CASES])
def test_boundaries(marked: str) -> None:
    assert [sentence.strip(" ") for sentence in split_sentences(marked.replace("¦", ""))] == [
        sentence.strip(" ") for sentence in marked.split("¦")
    ]


@given(st.text())
def test_nothing_is_lost_in_any_text(text: str) -> None:
    assert "".join(split_sentences(text)) == text


@given(st.text(alphabet=" .?!…。？)(]['\"\n\rAaéБ中1[]|-#：「」”*"))
def test_nothing_is_lost_in_punctuation(text: str) -> None:
    sentences = split_sentences(text)
    assert "".join(sentences) == text
    assert all(sentences)


@pytest.mark.parametrize(
    "unit",
    ["a", ". ", ". A", "(", "( . )", ".)", "。", "\n", "\n ", "\n- ", ".[1", "[1]", "Mr. X ", "| a ", " "],
)
@pytest.mark.parametrize("length", [100_000, pytest.param(250_000, marks=pytest.mark.soak)])
def test_time_is_linear(unit: str, length: int) -> None:
    started = time.process_time()
    split_sentences(unit * (length // 10 // len(unit)))
    small = time.process_time() - started
    started = time.process_time()
    split_sentences(unit * (length // len(unit)))
    assert time.process_time() - started < max(30 * small, 0.3)
