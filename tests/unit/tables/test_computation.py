"""Who computes what over which tables."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from rag_engine.agent.tool import is_tool_result
from rag_engine.errors import QueryRefused
from rag_engine.generation.generate import GeneratedReply
from rag_engine.models import scripted
from rag_engine.pipeline import Inquiry
from rag_engine.tables.answers.computation import Computation
from rag_engine.tables.answers.requests import with_table_request
from rag_engine.types import AnswerOptions, KnowledgeBaseId, Query
from tests.tables.stored import BASE, stored_tables

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from rag_engine.tables.store import TableStore

pytestmark = pytest.mark.process


async def _nothing(inquiry: Inquiry) -> AsyncGenerator[Inquiry]:
    yield inquiry


async def _asked(
    store: TableStore,
    text: str,
    *,
    replies: tuple[str, ...] = (),
    bases: frozenset[KnowledgeBaseId] = frozenset({BASE}),
    compute: bool = False,
) -> tuple[GeneratedReply | None, Inquiry | None]:
    query = Query(text=text, knowledge_bases=bases, options=AnswerOptions(compute=compute))
    inquiry = Inquiry(query=query, question=text)
    lines = [
        *({"text": reply, "pattern": "no column"} for reply in replies[1:]),
        *({"text": reply} for reply in replies),
    ]
    settings = scripted.Settings.model_validate({"replies": lines})
    async with scripted.connect(settings, embedder=None) as model:  # type: ignore[arg-type]
        models = [model] if replies else []
        computation = Computation(store=store)
        items = [item async for item in computation.answered(inquiry, models, otherwise=_nothing)]
    replied = next((item for item in items if isinstance(item, GeneratedReply)), None)
    return replied, next((item for item in items if isinstance(item, Inquiry)), None)


def _sql(text: str) -> str:
    return json.dumps({"sql": text})


async def test_the_rules_compute_and_cite_without_a_model(budget: Path, tmp_path: Path) -> None:
    store, _ = await stored_tables(tmp_path / "tables", [budget])
    reply, _ = await _asked(store, "What is the total amount for Field?")
    assert reply is not None
    assert "€1,334.07" in reply.text
    assert {citation.anchor for citation in reply.citations} == {"Budget!A4:E6, 2 rows"}
    assert "Field | 03.03.2025 | € 99.50 | 10.0% | TRUE" in reply.citations[1].quote


async def test_tables_with_one_answer_need_no_choice(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("trips.csv", "trips copy.csv", "trips old.csv")]
    for path, last in zip(paths, (30, 30, 31), strict=True):
        path.write_text(f"Driver,Mileage\nAna,900\nBo,1200\nCy,{last}\n")
    store, _ = await stored_tables(tmp_path / "same", paths[:2])
    total, _ = await _asked(store, "What is the total mileage?", compute=True)
    assert total is not None
    assert "2,130" in total.text
    (said,) = (notice for notice in total.notices if "same answer" in notice)
    assert "trips copy.csv" in said
    differing, _ = await stored_tables(tmp_path / "differing", paths)
    asked_back, _ = await _asked(differing, "What is the total mileage?", compute=True)
    assert asked_back is not None
    assert "2,130" not in asked_back.text
    assert "trips old.csv" in asked_back.text


async def test_equal_numbers_of_different_units_need_a_choice(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("flats berlin.csv", "flats boston.csv")]
    for path, unit in zip(paths, ("€", "$"), strict=True):
        path.write_text(f"Flat,Rent ({unit})\nOne,900\nTwo,1200\nThree,30\n")
    store, _ = await stored_tables(tmp_path / "tables", paths)
    asked_back, _ = await _asked(store, "What is the total rent?", compute=True)
    assert asked_back is not None
    assert "2,130" not in asked_back.text
    assert "flats boston.csv" in asked_back.text


async def test_without_a_model_a_row_is_shown_with_its_name_and_months_by_theirs(tmp_path: Path) -> None:
    path = tmp_path / "trips.csv"
    path.write_text("Driver,Month,Mileage\nAna,2025-01-01,900\nBo,2025-02-01,1200\nCy,2025-02-01,30\n")
    store, _ = await stored_tables(tmp_path / "tables", [path])
    most, _ = await _asked(store, "Which driver has the highest mileage?")
    assert most is not None
    assert "Driver: **Bo**; Mileage: **1,200** [1][2]" in most.text
    assert next(citation.anchor for citation in most.citations if citation.number == 2) == "rows 2–4, 3 rows"
    months, _ = await _asked(store, "Total mileage by month")
    assert months is not None
    assert "| January 2025 | 900 |" in months.text
    german, _ = await _asked(store, "Summe der Mileage pro Monat")
    assert german is not None
    assert "| Februar 2025 | 1.230 |" in german.text


@pytest.mark.parametrize(
    ("question", "lead"),
    [
        ("importe total por canal", "Calculado: 2 filas"),
        ("Summe der importe je canal", "Berechnet: 2 Zeilen"),
    ],
)
async def test_all_of_an_answer_is_in_the_language_in_which_the_rules_understood_the_question(
    question: str, lead: str, tmp_path: Path
) -> None:
    path = tmp_path / "reservas.csv"
    path.write_text("Reserva,Canal,Importe\nR-1,Web,1200.50\nR-2,Agencia,80\nR-3,Web,4\n")
    store, _ = await stored_tables(tmp_path / "tables", [path])
    reply, _ = await _asked(store, question)
    assert reply is not None
    assert reply.text.startswith(lead)
    assert "1.204,50" in reply.text
    assert reply.language == {"C": "es", "B": "de"}[lead[0]]


async def test_a_query_of_a_model_is_repaired(budget: Path, tmp_path: Path) -> None:
    store, _ = await stored_tables(tmp_path / "tables", [budget])
    replies = (_sql("SELECT SUM(cost) FROM spending"), _sql('SELECT AVG(amount) AS "Mean" FROM spending'))
    reply, inquiry = await _asked(store, "What is the average amount?", replies=replies)
    assert reply is not None
    assert inquiry is not None
    assert "Mean: **€300.21**" in reply.text
    traced = inquiry.details["computed"]
    assert isinstance(traced, dict)
    assert (traced["by"], len(traced["faults"])) == ("model", 1)


@pytest.mark.parametrize("sql", ["", "SELECT SUM(amount) FROM spending WHERE department = 'Nobody'"])
async def test_what_no_row_answers_is_searched_for(sql: str, budget: Path, tmp_path: Path) -> None:
    store, _ = await stored_tables(tmp_path / "tables", [budget])
    reply, _ = await _asked(store, "How much do the Zebras spend in total?", replies=(_sql(sql),))
    assert reply is None


async def test_nobody_computes_over_tables_of_others(budget: Path, tmp_path: Path) -> None:
    store, _ = await stored_tables(tmp_path / "tables", [budget])
    other = frozenset({KnowledgeBaseId("other")})
    replies = (_sql("SELECT SUM(amount) FROM spending"),)
    for given in ((), replies):
        reply, _ = await _asked(store, "What is the total amount?", replies=given, bases=other)
        assert reply is None
    said, _ = await _asked(store, "What is the total amount?", replies=replies, bases=other, compute=True)
    assert said is not None
    assert said.computed is None
    assert "1,501.07" not in said.text


async def test_an_ordinary_question_calls_no_model(budget: Path, tmp_path: Path) -> None:
    store, _ = await stored_tables(tmp_path / "tables", [budget])
    reply, _ = await _asked(store, "Who approves travel?", replies=(_sql("SELECT amount FROM spending"),))
    assert reply is None


@pytest.mark.parametrize(
    "question",
    [
        "When was Office's amount booked?",
        "Which department is the earliest?",
        "Amount of IT on 4 April 2025?",
        "Welcher Betrag (Amount) wurde am 03.02.2025 für Office gebucht?",
        "¿Qué Amount tiene el Department Office?",
        "Department Office 的 Amount 是？",
    ],
)
async def test_a_question_for_a_cell_or_a_rank_asks_for_a_query(
    question: str, budget: Path, tmp_path: Path
) -> None:
    store, _ = await stored_tables(tmp_path / "tables", [budget])
    replies = (_sql("SELECT amount FROM spending WHERE department = 'Office'"),)
    reply, _ = await _asked(store, question, replies=replies)
    assert reply is not None
    assert "200" in reply.text


@pytest.mark.parametrize("text", ["table: total by month", "total by month table:yes"])
def test_a_question_can_ask_for_tables(text: str) -> None:
    query = with_table_request(Query(text=text, knowledge_bases=frozenset({BASE})))
    assert (query.text, query.options.compute) == ("total by month", True)


async def test_a_tool_gets_the_result_as_a_passage_of_its_rows(budget: Path, tmp_path: Path) -> None:
    store, _ = await stored_tables(tmp_path / "tables", [budget])
    settings = scripted.Settings.model_validate(
        {
            "replies": [
                {"text": _sql("SELECT SUM(amount) AS \"Total\" FROM spending WHERE department = 'Field'")}
            ]
        }
    )
    async with scripted.connect(settings, embedder=None) as model:  # type: ignore[arg-type]
        inquiry = Inquiry(query=Query(text="x", knowledge_bases=frozenset({BASE})), question="x")
        (hit,) = await Computation(store=store).passages("total amount of Field", inquiry, model)
        foreign = replace(
            inquiry, query=replace(inquiry.query, knowledge_bases=frozenset({KnowledgeBaseId("o")}))
        )
        with pytest.raises(QueryRefused):
            await Computation(store=store).passages("total amount of Field", foreign, model)
    assert "€1,334.07" in hit.chunk.text
    assert "Field | 03.03.2025" in hit.chunk.text
    assert hit.chunk.anchor == "Budget!A4:E6, 2 rows"
    assert is_tool_result(hit.chunk.id)
    assert not is_tool_result(hit.chunk.document)
