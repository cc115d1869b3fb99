"""Without a model: the most central sentences of every section, cited, in the requested number."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from rag_engine.models.extractive.candidates import Candidate
from rag_engine.models.extractive.compose import list_lines
from rag_engine.models.extractive.summary import Choice, choose, draft
from rag_engine.summaries.length_and_language import LengthAndLanguage
from rag_engine.types import Chunk, ChunkId, DocumentId, Hit, KnowledgeBaseId, SectionKind
from tests.unit.summaries.setup import HANDBOOK, desk, long_text

if TYPE_CHECKING:
    from pathlib import Path


def passage(
    ordinal: int,
    text: str,
    *headings: str,
    anchor: str = "",
    kind: SectionKind = "prose",
    document: str = "d",
) -> Hit:
    chunk = Chunk(
        id=ChunkId(f"c{ordinal}"),
        document=DocumentId(document),
        knowledge_base=KnowledgeBaseId("kb"),
        ordinal=ordinal,
        text=text,
        title=f"{document}.md",
        headings=headings,
        anchor=anchor,
        kind=kind,
        language="en",
    )
    return Hit(chunk=chunk, score=0.0, rank=ordinal)


def lines(*passages: Hit, style: LengthAndLanguage | None = None) -> list[str]:
    style = style or LengthAndLanguage()
    text = "".join(list_lines(choose(draft(passages, style), None, style)))
    return [line for line in text.split("\n") if line]


async def test_every_section_is_summarised_with_its_citation(tmp_path: Path) -> None:
    async with desk(tmp_path, models=0) as here:
        await here.add("handbook.md", HANDBOOK)
        answer = await here.ask("summarise this file")
    assert answer.text.startswith("No language model wrote this: the most telling sentences")
    assert re.findall(r"\*\*(.+?):\*\*", answer.text) == ["Handbook", "Leave", "Travel", "Notice"]
    assert [citation.anchor for citation in answer.citations] == [
        "§ Handbook", "§ Leave", "§ Travel", "§ Notice",
    ]  # fmt: skip
    assert all(citation.quote in HANDBOOK for citation in answer.citations)
    assert answer.grounded
    assert answer.route == "summarise"
    assert answer.model == "extractive"


@pytest.mark.parametrize(
    ("text", "most"),
    [("in 3 bullet points", 3), ("in two sentences", 2), ("in one sentence", 1), ("in 4 bullet points", 4)],
)
async def test_as_many_sentences_as_are_wished_for(tmp_path: Path, text: str, most: int) -> None:
    async with desk(tmp_path, models=0) as here:
        await here.add("handbook.md", HANDBOOK)
        answer = await here.ask(f"summarise handbook.md {text}")
    assert len(re.findall(r"\[\d\]", answer.text)) == most


@pytest.mark.parametrize("words", [15, 40, 100])
async def test_not_more_words_than_are_wished_for(tmp_path: Path, words: int) -> None:
    async with desk(tmp_path, models=0) as here:
        await here.add("minutes.md", long_text(20))
        answer = await here.ask(f"summarise this file in {words} words")
    told = answer.text.split("\n\n", 1)[1]
    assert 5 <= len(re.sub(r"\*\*.+?\*\*|\[1\]|-", "", told).split()) <= words


async def test_of_very_many_sections_neighbours_are_taken_together_and_that_is_said(tmp_path: Path) -> None:
    async with desk(tmp_path, models=0) as here:
        await here.add("minutes.md", long_text(200, sentences=2))
        answer = await here.ask("Fasse minutes.md zusammen")
    assert "Es gibt 200 Abschnitte" in answer.text
    assert 20 <= len(re.findall(r"\n- ", answer.text)) <= 24
    anchors = [citation.anchor for citation in answer.citations]
    assert anchors[0] in {f"§ Chapter {number}" for number in range(1, 10)}
    assert anchors[-1] in {f"§ Chapter {number}" for number in range(190, 201)}


@pytest.mark.slow
async def test_more_passages_than_a_marker_can_name_are_all_looked_at(tmp_path: Path) -> None:
    async with desk(tmp_path, models=0) as here:
        await here.add("minutes.md", long_text(1_100, sentences=3))
        answer = await here.ask("summarise this file")
    assert "There are 1,100 sections" in answer.text
    assert answer.grounded
    assert len(answer.citations) >= 20


def test_a_repeated_fact_is_summarised_once() -> None:
    told = lines(
        passage(0, "The board meets every first Monday of the month.", "Board"),
        passage(
            1,
            "The board meets every first Monday of the month. It decides on the budget of each team.",
            "Money",
        ),
    )
    assert len([line for line in told if "first Monday" in line]) == 1


def test_tables_and_code_are_shown_on_one_line() -> None:
    told = lines(
        passage(0, "Item | Budget\nTravel | 5,000\nTotal | 9,000", "Costs", kind="table"),
        passage(1, "def total(rows):\n    return sum(rows)", "Code", kind="code"),
    )
    assert told == ["- **Costs:** Item: Total; Budget: 9,000 [1].", "- **Code:** `def total(rows):` [2]."]


def test_several_documents_are_listed_under_their_titles() -> None:
    told = lines(
        passage(0, "The contract ends in May of next year.", document="contract"),
        passage(1, "The lease can be given up within two weeks.", document="lease"),
    )
    assert told == [
        "**contract.md**",
        "- The contract ends in May of next year [1].",
        "**lease.md**",
        "- The lease can be given up within two weeks [2].",
    ]


def test_headings_cannot_format_or_cite() -> None:
    told = lines(
        passage(0, "The fee is five euros a day for everyone.", "**Fees** [7] <b>", "One"),
        passage(1, "Nobody pays for the second day of it.", "Two `x`"),
    )
    assert told[0].startswith("- **One:** ")
    assert told[1].startswith("- **Two x:** ")


def test_a_document_without_headings_is_summarised_page_by_page() -> None:
    told = lines(
        *(passage(n, f"Page {n} tells of the {word} in detail and at length.", anchor=f"p. {n}")
          for n, word in enumerate(("budget", "staff", "rooms"), 1))
    )  # fmt: skip
    assert [line.split(":**")[0] for line in told] == ["- **p. 1", "- **p. 2", "- **p. 3"]


def test_contents_and_notes_are_left_out_where_there_is_text() -> None:
    told = lines(
        passage(0, "Introduction 1\nCosts 2\nAnnex 9", "Contents"),
        passage(1, "The report looks at the costs of the last year.", "Costs"),
        passage(2, "See the annex of the report before this one.", "Costs", anchor="footnote 3"),
        passage(3, "Effective October 1, 2012", "Footer"),
    )
    assert told == ["- The report looks at the costs of the last year [2]."]
    assert lines(passage(0, "Introduction 1", "Contents")) == ["- Introduction 1 [1]."]


def test_of_a_mail_its_text_is_summarised_and_every_sentence_is_cited() -> None:
    mail = (
        "Subject: Delivery of the prototypes\nFrom: Priya Nair <priya@example.com>\nTo: ops@example.com\n"
        "Date: Tue, 02 Jun 2026 09:14:00 +0200\nAttachments: plan.pdf\n\nHi all,\n\n"
        "the prototypes leave Ulm on 9 June with the carrier Brandt. the second crate follows by ship in July."
    )
    other = passage(2, "Crates are opened by two people of the depot.", "Depot")
    told = lines(passage(1, mail, "Delivery", anchor="message"), other)[0]
    assert "leave Ulm on 9 June" in told
    assert "From:" not in told
    short = "From: Alice Example <alice@example.com>\nTo: Bob <bob@example.com>\n\nThis email contains an attachment."
    told = lines(passage(1, short, "Email", anchor="message"), other, style=LengthAndLanguage(sentences=2))[0]
    assert told == "- **Email:** This email contains an attachment [1]."
    sentences = (Candidate(passage=0, text="Valves are shut."), Candidate(passage=0, text="the pump stops."))
    outlined = draft((passage(1, "Text.", "Pump"), other), LengthAndLanguage()).sections
    written = "".join(list_lines([Choice(section=section, chosen=sentences) for section in outlined]))
    assert written.startswith("\n\n- **Pump:** Valves are shut [1]. … the pump stops [1].")
