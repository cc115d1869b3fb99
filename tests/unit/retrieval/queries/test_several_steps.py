"""Questions that ask for several steps are told from ordinary ones by words; a wrong yes would cost a call."""

from __future__ import annotations

import gzip
import json

import pytest

from rag_engine.retrieval.queries.several_steps import asks_for_several_steps
from tests.conftest import SHARED
from tests.tables.computed.development import DEVELOPMENT
from tests.tables.computed.fourth import FOURTH
from tests.tables.computed.fresh import FRESH
from tests.tables.computed.held_out import HELD_OUT


@pytest.mark.parametrize(
    "question",
    [
        "Compare the three offers and then tell me which is cheapest",
        "Find the owner of the pump and then look up the phone number.",
        "For each vendor, find the contract and say when it ends",
        "First find the budget of Field, then compute its share.",
        "List all projects and tell me who leads them",
        "Vergleiche die drei Angebote und sag mir, welches am günstigsten ist",
        "Suche den Vertrag von Kestrel, danach berechne die Kosten",
        "Für jeden Lieferanten finde den Vertrag und nenne das Ende",
        "Compara las ofertas y luego dime cuál es la más barata",
        "Para cada proveedor, busca el contrato y dime la fecha",
        "比较三份报价，然后告诉我哪个最便宜",
        "对每个供应商找出合同并说明到期日",
        "Comparez les offres, puis dis-moi la moins chère",
        "Vergelijk de offertes en noem de goedkoopste",
    ],
)
def test_several_steps(question: str) -> None:
    assert asks_for_several_steps(question)


@pytest.mark.parametrize(
    "question",
    [
        "Who was elected and then resigned in 1990?",
        "What happens first, and what then?",
        "Total hours for each office",
        "Compare the travel policy of 2023 and 2024",
        "How do I install the driver and then restart?",
        "List all orders and invoices of March",
        "What is checked and then shown to the user?",
        "How are expenses calculated, and then read by whom?",
        "Show me the terms and conditions",
        "List the names and show times of the cinema",
        "Explain how tenders are ranked and then decided",
        "Was passiert dann?",
        "¿Qué pasa después?",
        "然后呢？",
        "列出所有合同",
        "",
    ],
)
def test_ordinary_questions(question: str) -> None:
    assert not asks_for_several_steps(question)


def test_no_question_over_tables_is_taken_for_several_steps() -> None:
    asked = [one.text for half in (DEVELOPMENT, HELD_OUT, FRESH, FOURTH) for one in half.questions()]
    assert [one for one in asked if asks_for_several_steps(one)] == []


@pytest.mark.skipif(not (SHARED / "data").is_dir(), reason="needs ../shared/data")
def test_none_of_four_thousand_public_questions_is() -> None:
    asked = [
        json.loads(line)["text"]
        for path in sorted((SHARED / "data").glob("*/queries.jsonl.gz"))
        for line in gzip.decompress(path.read_bytes()).splitlines()
    ]
    assert len(asked) > 4_000
    assert [one for one in asked if asks_for_several_steps(one)] == []
