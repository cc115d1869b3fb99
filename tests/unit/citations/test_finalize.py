"""Citations after the stream: those the model wrote, and those it omitted."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.citations import Cited, DraftAnswer, finish
from rag_engine.embedders import hashing
from rag_engine.errors import EmbedderUnavailable
from tests.hypothesis_profiles import examples
from tests.unit.citations.passages import hit, numbered, streamed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from rag_engine.citations import Check
    from rag_engine.types import Hit, Matrix, Side


@dataclass(slots=True)
class ScriptedEmbedder:
    """Prepared vectors by text; any other text gets a vector unlike all others."""

    vectors: Mapping[str, Sequence[float]] = field(default_factory=dict[str, "Sequence[float]"])
    model: str = "scripted"
    dimensions: int = 256
    max_tokens: int = 256
    letters_per_token: int = 5
    is_down: bool = False
    calls: list[list[str]] = field(default_factory=list[list[str]])

    def count_tokens(self, text: str) -> int:
        return len(text) // self.letters_per_token

    async def embed(self, texts: Sequence[str], *, side: Side) -> Matrix:
        self.calls.append(list(texts))
        if self.is_down:
            raise EmbedderUnavailable
        matrix = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            known = self.vectors.get(text)
            if known is None:
                matrix[row, 8 + row % (self.dimensions - 8)] = 1.0
            else:
                matrix[row, : len(known)] = known
        return matrix


HANDBOOK = hit(
    "The notice period is four weeks to the end of a month. It may be extended by contract. Holidays are 30 days a year.",
    document="handbook",
    rank=1,
)
IT = hit(
    "Laptops are replaced every three years. Order one at the service desk, extension 4711.",
    document="it",
    rank=2,
)
CANTEEN = hit("The canteen opens at 11:30. Guests pay 8 euros.", document="canteen", rank=3)
PASSAGES = [HANDBOOK, IT, CANTEEN]


async def _finished(
    text: str,
    passages: Sequence[Hit] = PASSAGES,
    *,
    embedder: ScriptedEmbedder | None = None,
    question: str = "",
    check: Check = "none",
) -> Cited:
    return await finish(
        streamed(text, passages),
        passages,
        question=question,
        embedder=embedder or ScriptedEmbedder(),
        check=check,
    )


def _bare(cited: Cited) -> str:
    kept, start = "", 0
    for mark in cited.marks:
        kept += cited.text[start : mark.start]
        start = mark.end
    return kept + cited.text[start:]


async def test_the_models_own_markers_need_no_embedder() -> None:
    embedder = ScriptedEmbedder()
    cited = await _finished("Guests pay 8 euros [3]. Holidays are 30 days [1].", embedder=embedder)
    assert not embedder.calls
    assert cited.text == "Guests pay 8 euros [1]. Holidays are 30 days [2]."
    assert [(citation.number, citation.document, citation.quote) for citation in cited.citations] == [
        (1, "canteen", "Guests pay 8 euros."),
        (2, "handbook", "Holidays are 30 days a year."),
    ]
    assert cited.grounded
    assert cited.report["cited_by"] == "model"
    assert cited.report["support_ratio"] == 1.0


async def test_a_citation_says_where_it_is_from() -> None:
    (citation,) = (await _finished("Guests pay 8 euros [3].")).citations
    assert (citation.title, citation.anchor, citation.uri, citation.chunk) == (
        "canteen.pdf",
        "p. 3",
        "file:///canteen.pdf",
        "canteen-3",
    )


async def test_each_place_has_its_number_and_passages_of_one_place_share_it() -> None:
    more = hit("Overtime is paid at the end of a quarter.", document="handbook", rank=4)
    same = replace(more, chunk=replace(more.chunk, anchor="p. 1"))
    text = "Guests pay 8 euros [3]. Overtime is paid quarterly [4]. Holidays are 30 days [1]."
    shared = await _finished(text, [*PASSAGES, same])
    assert shared.text.endswith("quarterly [2]. Holidays are 30 days [2].")
    assert [(one.number, one.chunk) for one in shared.citations] == [
        (1, "canteen-3"),
        (2, "handbook-4"),
        (2, "handbook-1"),
    ]
    cited = await _finished(
        "Guests pay 8 euros [3]. Overtime is paid quarterly [4]. Holidays are 30 days [1].", [*PASSAGES, more]
    )
    assert cited.text == "Guests pay 8 euros [1]. Overtime is paid quarterly [2]. Holidays are 30 days [3]."
    assert [(citation.number, citation.chunk) for citation in cited.citations] == [
        (1, "canteen-3"),
        (2, "handbook-4"),
        (3, "handbook-1"),
    ]


async def test_invalid_and_dropped_markers_are_reported() -> None:
    cited = await _finished("Fact [1][2][3][4][5][6] and [99].", numbered(6))
    assert cited.text == "Fact [1][2][3][4] and."
    assert (cited.report["citations_invalid"], cited.report["citations_dropped"]) == (1, 2)


async def test_a_number_that_its_passage_does_not_hold_is_flagged() -> None:
    cited = await _finished("Guests pay 9 euros [3]. Holidays are 30 days [1].", check="strict")
    assert cited.text == "Guests pay 9 ⚠ euros [1]. Holidays are 30 days [2]."
    assert (cited.unsupported, cited.support_ratio, cited.grounded) == (("9",), 0.5, True)
    assert cited.report["numbers_unsupported"] == [{"claim": "Guests pay 9 euros.", "numbers": ["9"]}]


async def test_a_marker_below_code_cites_that_code() -> None:
    pump = (
        '"""Settings of the pump."""\n\nPRESSURE = 6.5\n\ndef open_valve(number):\n    """At most twelve."""'
    )
    code = hit(pump, kind="code")
    cited = await _finished("It says:\n\n```python\nPRESSURE = 6.5\n```\n[1]\n", [code])
    assert "PRESSURE = 6.5" in cited.citations[0].quote


async def test_a_row_of_a_cited_table_is_quoted_by_its_own_claim() -> None:
    table = hit("Kind | Days\nFull time | 30\nPart time | 15", document="table", kind="table")
    cited = await _finished("| Kind | Days |\n|---|---|\n| Part time | 15 [1] |", [table])
    assert cited.citations[0].quote == "Kind | Days\nPart time | 15"


# Claims that the model did not cite.

FIVE = (
    "Staff must announce their leaving a month ahead. New notebooks come every three years. Is that clear? "
    "The moon is made of green cheese. Lunch starts at 11:30."
)
FIVE_VECTORS = {
    "Staff must announce their leaving a month ahead.": (0.9, 0.0, 0.0, 0.43589),
    "The notice period is four weeks to the end of a month.": (1.0,),
    "New notebooks come every three years.": (0.0, 0.8, 0.0, 0.6),
    "Laptops are replaced every three years.": (0.0, 1.0),
    "Lunch starts at 11:30.": (0.0, 0.0, 0.7, 0.71414),
    "The canteen opens at 11:30.": (0.0, 0.0, 1.0),
}


async def test_five_sentences_with_scripted_vectors_are_cited_at_the_expected_places() -> None:
    embedder = ScriptedEmbedder(FIVE_VECTORS)
    cited = await _finished(FIVE, embedder=embedder)
    assert cited.text == (
        "Staff must announce their leaving a month ahead [1]. New notebooks come every three years [2]. Is that clear? "
        "The moon is made of green cheese. Lunch starts at 11:30 [3]."
    )
    assert [(mark.start, mark.end, mark.number, mark.passages) for mark in cited.marks] == [
        (47, 51, 1, (0,)),
        (89, 93, 2, (1,)),
        (165, 169, 3, (2,)),
    ]
    assert len(embedder.calls) == 1
    assert cited.report["cited_by"] == "comparison"
    assert cited.report["claims"] == 4
    assert cited.report["claims_supported"] == 3
    thresholds = cast("list[float]", cited.report["thresholds"])
    assert all(threshold in (0.63, 0.504, 0.4032, 0.32256) for threshold in thresholds)


async def test_nothing_alike_is_not_cited() -> None:
    cited = await _finished("The moon is made of green cheese.")
    assert (cited.text, cited.citations, cited.grounded) == ("The moon is made of green cheese.", (), False)
    assert cited.report["support_ratio"] == 0.0


async def test_neighbours_that_cite_the_same_share_the_marker_of_the_last() -> None:
    cited = await _finished(
        "The notice period is four weeks to the end of a month. It may be extended by contract. The canteen opens at 11:30."
    )
    assert cited.text == (
        "The notice period is four weeks to the end of a month. It may be extended by contract [1]. "
        "The canteen opens at 11:30 [2]."
    )


async def test_lists_tables_code_and_headings() -> None:
    text = (
        "# The canteen opens at 11:30\n\n- The canteen opens at 11:30.\n- Guests pay 8 euros.\n\n"
        "| The canteen | opens at 11:30 |\n|---|---|\n| Guests | pay 8 euros |\n\n```\nGuests pay 8 euros.\n```"
    )
    cited = await _finished(text)
    assert cited.text == (
        "# The canteen opens at 11:30\n\n- The canteen opens at 11:30 [1].\n- Guests pay 8 euros [1].\n\n"
        "| The canteen | opens at 11:30 |\n|---|---|\n| Guests | pay 8 euros |\n\n[1]\n\n```\nGuests pay 8 euros.\n```"
    )


async def test_the_number_rule_brings_in_the_passage_that_holds_the_number() -> None:
    first = hit("The service desk helps with laptops and orders for all staff.", document="a", rank=1)
    second = hit("The service desk for laptops and orders has extension 4711.", document="b", rank=2)
    cited = await _finished(
        "The service desk helps with laptops and orders for staff on 4711.",
        [first, second],
        embedder=ScriptedEmbedder(letters_per_token=1),
    )
    assert {citation.document for citation in cited.citations} == {"a", "b"}
    assert cited.report["numbers_unsupported"] == []


async def test_the_same_text_in_two_documents_is_cited_from_both() -> None:
    copy = hit(CANTEEN.chunk.text, document="copy", rank=4)
    cited = await _finished("Guests pay 8 euros.", [CANTEEN, IT, copy])
    assert cited.text == "Guests pay 8 euros [1][2]."


async def test_a_short_answer_is_compared_with_its_question() -> None:
    cited = await _finished("Four weeks.", question="What is the notice period to the end of a month?")
    assert cited.text == "Four weeks [1]."
    assert cited.citations[0].quote == "The notice period is four weeks to the end of a month."


@pytest.mark.parametrize(
    ("language", "answer", "shown"),
    [
        (
            "de",
            "Die Frist für die Kündigung beträgt vier Wochen.",
            "Die Frist für die Kündigung beträgt vier Wochen [1].",
        ),
        ("es", "Los portátiles se cambian cada tres años.", "Los portátiles se cambian cada tres años [1]."),
        (
            "zh",
            "员工的年假是每年三十天。食堂十一点半开门！",
            "员工的年假是每年三十天 [1]。食堂十一点半开门 [2]！",
        ),
        ("ja", "食堂は11時半に開きます。", "食堂は11時半に開きます [1]。"),
    ],
)
async def test_a_language_the_embedder_does_not_know_goes_by_its_wording(
    language: str, answer: str, shown: str
) -> None:
    texts = {
        "de": ["Die Kündigungsfrist beträgt vier Wochen zum Monatsende. Frist und Kündigung gelten immer."],
        "es": ["El comedor abre a las 11:30.", "Los portátiles se cambian cada tres años en la oficina."],
        "zh": ["年假为每年三十天。", "食堂十一点半开门。"],
        "ja": ["有給休暇は年に30日です。", "食堂は11時半に開きます。"],
    }[language]
    passages = [
        hit(text, document=f"{language}{rank}", rank=rank, language=language)
        for rank, text in enumerate(texts, start=1)
    ]
    cited = await _finished(answer, passages, embedder=ScriptedEmbedder(letters_per_token=1))
    assert cited.text == shown


async def test_without_vectors_the_wording_decides_and_a_fallback_says_so() -> None:
    cited = await _finished("The canteen opens at 11:30.", embedder=ScriptedEmbedder(is_down=True))
    assert cited.text == "The canteen opens at 11:30 [1]."
    assert cited.fallbacks == ("citing_without_vectors",)


@pytest.mark.parametrize(
    "text", ["", "Is that clear?", "I did not find this in the files.", "```\nx = 1\n```", "👍"]
)
async def test_what_says_nothing_costs_nothing(text: str) -> None:
    embedder = ScriptedEmbedder()
    cited = await _finished(text, embedder=embedder)
    assert (cited.text, cited.citations) == (text, ())
    assert not embedder.calls


async def test_without_passages_nothing_is_cited() -> None:
    embedder = ScriptedEmbedder()
    cited = await _finished("The canteen opens at 11:30.", [], embedder=embedder)
    assert not cited.grounded
    assert not embedder.calls


async def test_at_most_64_claims_go_to_the_embedder() -> None:
    embedder = ScriptedEmbedder()
    await _finished(
        " ".join(f"Claim number {number} is about something." for number in range(200)), embedder=embedder
    )
    (texts,) = embedder.calls
    assert len([text for text in texts if text.startswith("Claim")]) == 64


async def test_a_passage_that_contains_markers_forges_nothing() -> None:
    evil = hit("The canteen [1] opens (ID: 2) at 11:30 [99].", document="evil", rank=1)
    cited = await _finished("The canteen opens at 11:30 [1].", [evil])
    assert cited.text == "The canteen opens at 11:30 [1]."
    assert cited.citations[0].quote == "The canteen [1] opens (ID: 2) at 11:30 [99]."


async def test_with_vectors_of_words_restatements_find_their_passages(tmp_path: Path) -> None:
    async with hashing.connect(hashing.Settings(), data_dir=tmp_path) as embedder:
        draft = streamed(
            "Lunch: the canteen opens at 11:30. Every three years the laptops are replaced.", PASSAGES
        )
        cited = await finish(draft, PASSAGES, question="", embedder=embedder)
    assert cited.text == (
        "Lunch: the canteen opens at 11:30 [1]. Every three years the laptops are replaced [2]."
    )
    assert [citation.document for citation in cited.citations] == ["canteen", "it"]


ANSWERS = st.lists(
    st.sampled_from(
        [
            "The canteen opens at 11:30. ",
            "Guests pay 8 euros",
            "Laptops are replaced every three years! ",
            "\n",
            "\n\n",
            "- ",
            "# ",
            "| a | b |\n",
            "|---|---|\n",
            "```\n",
            "`Guests pay 8 euros.`",
            "**Holidays are 30 days a year.** ",
            "> ",
            "[array] ",
            "Is it? ",
            "食堂开门。",
            "x",
            "[1]",
            "“Holidays are 30 days a year.” ",
            "[a](https://x.y/z.) ",
            "1. ",
        ]
    ),
    max_size=14,
).map("".join)


@given(ANSWERS)
@examples(150)
async def test_the_final_edit_adds_markers_and_nothing_else(text: str) -> None:
    draft = streamed(text, PASSAGES)
    cited = await finish(draft, PASSAGES, question="", embedder=ScriptedEmbedder())
    if draft.marks:
        assert (cited.text, cited.marks) == (draft.text, draft.marks)
    else:
        assert _bare(cited) == draft.text
    numbers = list(dict.fromkeys(mark.number for mark in cited.marks))
    assert numbers == list(range(1, len(numbers) + 1))
    chunks = {passage.chunk.id: passage.chunk.text for passage in PASSAGES}
    for citation in cited.citations:
        assert citation.quote
        assert citation.quote in chunks[citation.chunk]
    assert [citation.number for citation in cited.citations] == sorted(c.number for c in cited.citations)
    assert {citation.number for citation in cited.citations} == set(numbers)
    assert cited.grounded == bool(cited.citations)


async def test_a_draft_made_elsewhere_can_be_finished() -> None:
    cited = await finish(
        DraftAnswer(text="Guests pay 8 euros."), PASSAGES, question="", embedder=ScriptedEmbedder()
    )
    assert cited.text == "Guests pay 8 euros [1]."
