"""Statements held against the passages: signs, re-pointed markers, and answers that nothing supports."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rag_engine.citations import finish
from rag_engine.citations.stated_facts import unheld
from rag_engine.embedders import hashing, local
from rag_engine.wrappers.cached_embedder import CachedEmbedder
from tests.doubles.vector_cache import MemoryVectorCache
from tests.unit.citations.passages import hit, streamed

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from rag_engine.citations import Check, Cited
    from rag_engine.ports import Embedder

WRITTEN = Path(__file__).parents[2] / "answers" / "written.jsonl"
PASSAGES = [
    hit("The notice period is four weeks to the end of a month. Holidays are 30 days a year.", rank=1),
    hit("Laptops are replaced every three years. Order one at extension 4711.", document="it", rank=2),
    hit("The canteen opens at 11:30. Guests pay 8 euros.", document="canteen", rank=3),
]


@pytest.fixture
async def embedder(tmp_path: Path) -> AsyncGenerator[Embedder]:
    async with hashing.connect(hashing.Settings(), data_dir=tmp_path) as connected:
        yield connected


async def checked(text: str, embedder: Embedder, check: Check = "strict", question: str = "") -> Cited:
    return await finish(streamed(text, PASSAGES), PASSAGES, question=question, embedder=embedder, check=check)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("Guests pay 8 euros [3].", "Guests pay 8 euros [1]."),
        ("Guests pay 9 euros [3].", "Guests pay 9 ⚠ euros [1]."),
        (
            "Guests pay 8 euros [1]. Holidays are 30 days [1].",
            "Guests pay 8 euros [1]. Holidays are 30 days [2].",
        ),
        (
            "Guests pay 8 euros [3]. The moon is made of green cheese [1].",
            "Guests pay 8 euros [1]. The moon is made of green cheese ⚠.",
        ),
        ("Guests pay 8 euros [3]. Is that clear?", "Guests pay 8 euros [1]. Is that clear?"),
        (
            "- Guests pay 8 euros [2].\n- Employees fly to Mars twice.",
            "- Guests pay 8 euros [1].\n- Employees fly to Mars twice ⚠.",
        ),
    ],
)
async def test_each_statement_shows_how_it_is_supported(written: str, shown: str, embedder: Embedder) -> None:
    cited = await checked(written, embedder)
    assert cited.text == shown
    assert not cited.is_invented
    for mark in cited.marks:
        assert cited.text[mark.start : mark.end].strip() == f"[{mark.number}]"


async def test_a_wrong_marker_leads_to_the_passage_that_says_it(embedder: Embedder) -> None:
    cited = await checked("Guests pay 8 euros [1].", embedder)
    (citation,) = cited.citations
    assert (citation.document, citation.quote) == ("canteen", "Guests pay 8 euros.")
    assert cited.report["citations_repointed"] == 1
    assert (cited.grounded, cited.support_ratio, cited.unsupported) == (True, 1.0, ())


@pytest.mark.parametrize("marker", ["", " [1]", " [3]"])
async def test_an_answer_that_nothing_supports_is_recognised(marker: str, embedder: Embedder) -> None:
    cited = await checked(f"Employees fly to the moon every summer{marker}.", embedder)
    assert (cited.is_invented, cited.grounded, cited.support_ratio) == (True, False, 0.0)


@pytest.mark.parametrize(
    "written",
    [
        "Yes. Employees fly to the moon every summer [1].",
        "No pets. Cats may sleep under the desks of the board [2].\n\n- Dogs wear a green collar.",
        "## Parents\n\nThey receive 16 weeks of paid leave [1].\n\n- Mothers apply in the payroll portal.\n- Fathers "
        "need a letter from the doctor.\n\nContact human resources for details.",
        "Guests pay 9 euros [3]. Holidays are 31 days a year [1]. Cats may sleep under the desks.",
        "The founder lives in a castle near the sea [2]. It takes ten working days to reach him.",
    ],
)
async def test_an_invented_answer_of_several_parts_is_recognised(written: str, embedder: Embedder) -> None:
    """Parts too short to compare and parts that differ by a figure do not save the rest."""
    assert (await checked(written, embedder)).is_invented


@pytest.mark.parametrize(
    "written",
    [
        "30 days. Employees fly to the moon every summer.",
        "Guests pay 9 euros [3].",
        "Guests pay 8 euros [3]. Holidays are 31 days a year [1]. Cats may sleep under the desks.",
        "Gäste zahlen für ihre Mahlzeiten insgesamt 8 Euro [3].",
    ],
)
async def test_an_answer_that_the_passages_hold_in_part_is_kept(written: str, embedder: Embedder) -> None:
    assert not (await checked(written, embedder)).is_invented


async def test_a_statement_of_few_words_is_read_in_the_language_of_its_passages(embedder: Embedder) -> None:
    passages = [
        hit("En julio de 2015 Obama visitó Kenia, como primer presidente en funciones.", language="es"),
        hit("El lago se encuentra en el norte de Kenia y es muy profundo.", language="es", rank=2),
    ]
    text = "Visitas Obama Kenia, julio 2015: primeros presidentes [1]."
    cited = await finish(streamed(text, passages), passages, question="", embedder=embedder, check="strict")
    assert "⚠" not in cited.text
    assert not cited.is_invented


@pytest.mark.parametrize(
    ("claim", "language", "missing"),
    [
        ("It takes ten working days.", "en", ("ten",)),
        ("It takes two working days.", "en", ()),
        ("Es dauert zehn Arbeitstage.", "de", ("zehn",)),
        ("需要十个工作日。", "zh", ("十个工作日",)),
        ("需要两个工作日。", "zh", ()),
    ],
)
def test_working_days_are_days(claim: str, language: str, missing: tuple[str, ...]) -> None:
    assert unheld(claim, ["The lead answers within two days."], language=language) == missing


async def test_general_knowledge_has_its_own_sign(embedder: Embedder) -> None:
    text = "Guests pay 8 euros [3]. Cheese is mostly made from the milk of cows."
    cited = await checked(text, embedder, "blended")
    assert cited.text == "Guests pay 8 euros [1]. Cheese is mostly made from the milk of cows °."
    assert (cited.is_invented, cited.grounded, cited.signs) == (False, True, {"°"})
    alone = await checked("Cheese is mostly made from the milk of cows.", embedder, "blended")
    assert (alone.text, alone.is_invented) == ("Cheese is mostly made from the milk of cows.", False)


async def test_a_summary_keeps_its_markers_and_its_figures_are_checked(embedder: Embedder) -> None:
    cited = await checked(
        "Everything about meals and equipment is settled [3], for 9 euros [3].", embedder, "facts"
    )
    assert cited.text == "Everything about meals and equipment is settled [1], for 9 ⚠ euros."


async def test_another_language_is_checked_for_figures_alone(embedder: Embedder) -> None:
    held = await checked("Gäste zahlen für ihre Mahlzeiten insgesamt 8 Euro [3].", embedder)
    assert held.text == "Gäste zahlen für ihre Mahlzeiten insgesamt 8 Euro [1]."
    assert (held.grounded, held.support_ratio) == (True, 1.0)
    other = await checked("Gäste zahlen für ihre Mahlzeiten insgesamt 9 Euro [3].", embedder)
    assert other.unsupported == ("9",)


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("language", ["en", "de", "es", "zh"])
async def test_inventions_are_caught_and_truthful_sentences_are_not_marked(
    language: str, model_folder: Path
) -> None:
    """30 truthful and 30 invented sentences a language, each among six passages, with a right, a wrong and no marker."""
    rows = [json.loads(line) for line in WRITTEN.read_text("utf-8").splitlines()]
    rows = [row for row in rows if row["language"] == language]
    marked: dict[str, list[bool]] = defaultdict(list)
    async with local.connect(local.Settings(), data_dir=model_folder) as connected:
        embedder = CachedEmbedder(connected, MemoryVectorCache())
        for number, row in enumerate(rows):
            others = random.Random(number).sample([other for other in rows if other is not row], 5)
            passages = [
                hit(each["source"], document=f"d{rank}", rank=rank, language=language)
                for rank, each in enumerate([row, *others], 1)
            ]
            for kind in ("truthful", "invented"):
                for place, sentence in enumerate(row[kind]):
                    marker = (" [1]", "", " [3]")[place % 3]
                    written = f"{sentence[:-1]}{marker}{sentence[-1]}"
                    cited = await finish(
                        streamed(written, passages),
                        passages,
                        question=row["question"],
                        embedder=embedder,
                        check="strict",
                    )
                    marked[kind].append(bool(cited.signs) or cited.is_invented)
    caught, wrong = marked["invented"], marked["truthful"]
    assert len(caught) == len(wrong) == 30
    assert sum(caught) >= 0.95 * len(caught)
    assert sum(wrong) <= 0.03 * len(wrong)
