"""Which names, codes, addresses, terms and aliases the rules see, in four languages."""

from __future__ import annotations

import pytest

from rag_engine.graph.names import key_of, keys_in
from rag_engine.graph.rules import extract
from rag_engine.types import Chunk, ChunkId, DocumentId, KnowledgeBaseId


def chunk(text: str, *, title: str = "", headings: tuple[str, ...] = (), language: str = "") -> Chunk:
    return Chunk(
        id=ChunkId("c"),
        document=DocumentId("d"),
        knowledge_base=KnowledgeBaseId("b"),
        ordinal=0,
        text=text,
        title=title,
        headings=headings,
        language=language,
    )


def names(text: str, **values: str) -> set[str]:
    return {mention.name for mention in extract(chunk(text, **values)).mentions}  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The pump of Harbour Works Ltd is checked by Anna Field.", {"Harbour Works Ltd", "Anna Field"}),
        ("Write to anna.field@harbour.example about XK-4711.", {"anna.field@harbour.example", "XK-4711"}),
        ("They follow ISO 9001 and use the A320 in Los Angeles.", {"ISO 9001", "A320", "Los Angeles"}),
        ("Yesterday the harbour was closed. However, nobody came.", set[str]()),
        ("It is so.\n3.2 Carrying leave over\nIt closes on Mondays and Fridays, in March.", set[str]()),
        ("Die Prüfung übernimmt Frau Müller bei Siemens in Berlin.", {"Frau Müller", "Siemens"}),
        ("La revisión la hace Marta Ruiz de Puertos del Norte.", {"Marta Ruiz de Puertos del Norte"}),
        ("Le contrôle est fait par Jean Dupont à Lyon.", {"Jean Dupont", "Lyon"}),
        ("《港口手册》由张伟编写，型号 XK-4711。", {"港口手册", "XK-4711"}),
    ],
)
def test_names_and_codes(text: str, expected: set[str]) -> None:
    found = names(text)
    assert expected <= found
    assert expected or not found


@pytest.mark.parametrize(
    ("text", "subject", "other", "everywhere"),
    [
        ("Acme Corporation (“the Client”) pays in May.", "acme corporation", "client", False),
        ("Die Nordhafen GmbH (im Folgenden „Auftraggeber“) zahlt.", "nordhafen gmbh", "auftraggeber", False),
        ("Port Nord SA (ci-après « le Client ») paie.", "port nord sa", "client", False),
        ("Puertos Norte SL (en adelante, «el Cliente») paga.", "puertos norte sl", "cliente", False),
        ("The World Health Organization (WHO) said so.", "world health organization", "who", True),
        ("It uses retrieval augmented generation (RAG) here.", "retrieval augmented generation", "rag", True),
    ],
)
def test_other_names_for_the_same(text: str, subject: str, other: str, *, everywhere: bool) -> None:
    [relation] = extract(chunk(text)).relations
    assert (relation.subject, relation.object, relation.everywhere) == (subject, other, everywhere)
    assert relation.text == ""


@pytest.mark.parametrize(
    "text",
    [
        "“Working Day” means a day on which banks open.",
        "1. „Arbeitstag“ bedeutet ein Tag, an dem Banken öffnen.",
        "« Jour ouvré » désigne un jour où les banques ouvrent.",
        "“工作日”是指银行营业的日子。",
    ],
)
def test_defined_terms(text: str) -> None:
    [term] = [mention for mention in extract(chunk(text)).mentions if mention.kind == "term"]
    assert term.key in {"working day", "arbeitstag", "jour ouvré", "工作日"}


def test_title_and_heading_are_the_subject() -> None:
    found = extract(
        chunk("It is tested weekly.", title="Pump XK-4711.pdf", headings=("Safety", "Relief valve"))
    )
    assert {mention.key for mention in found.mentions if mention.is_subject} == {
        "pump xk-4711",
        "relief valve",
    }


def test_names_compare_without_case_article_and_possessive() -> None:
    assert key_of("The Harbour’s Works") == key_of("harbour works")
    assert key_of("Frau Müller") == key_of("Müller")
    assert key_of("of the") == ""
    assert "harbour works" in keys_in("who owns the Harbour Works?")
    assert "港口手册" in keys_in("港口手册是谁写的？")


@pytest.mark.parametrize(
    "text", ["A " * 4_000, "(" * 8_000, "A-" * 4_000, "“" * 8_000, "a@" * 4_000, "Ab " * 9_000]
)
def test_hostile_texts_end_soon_and_are_cut(text: str) -> None:
    assert len(extract(chunk(text)).mentions) <= 60
    assert len(keys_in(text)) <= 2_000
