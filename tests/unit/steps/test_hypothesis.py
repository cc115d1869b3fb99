"""Made-up passages: what is searched for, what is discarded, and how much it counts."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import EmbedderUnavailable, ModelUnavailable
from rag_engine.evidence.verdict import asked_wordings, judge
from rag_engine.models.scripted import ScriptedLine, ScriptedModel
from rag_engine.pipeline import Inquiry
from rag_engine.ports import Ports
from rag_engine.retrieval.queries.hypotheses import usable
from rag_engine.steps import fuse, hypothesis
from rag_engine.types import Query
from tests.doubles.rankings import KNOWLEDGE_BASE, GivenIndex, chunk, ranking
from tests.unit.steps.test_retrieve import OneVector

if TYPE_CHECKING:
    from rag_engine.types import Ranking

QUESTION = "How long is parental leave?"
PASSAGE = (
    "Parental leave lasts fourteen months in total, which both parents may divide between them as they like, and it begins on the "
    "day of birth."
)
PLAIN = ranking("dense", [(f"c{number}", 0.9 - number / 100) for number in range(10)])
WORDS = ranking("lexical", [("c0", 3.0), ("c1", 2.0)])


def _saying(*passages: object) -> ScriptedModel:
    return ScriptedModel(
        [ScriptedLine(pieces=(json.dumps({"passages": passages}),), task="hypothesis")], context_tokens=32_000
    )


def _inquiry(question: str = QUESTION, **more: object) -> Inquiry:
    query = Query(text=question, knowledge_bases=frozenset({KNOWLEDGE_BASE}))
    return replace(Inquiry(query=query, question=question, rankings=(WORDS, PLAIN)), **more)


async def _run(
    inquiry: Inquiry,
    model: ScriptedModel | None,
    found: Ranking = PLAIN,
    embedder: OneVector | None = None,
    **settings: object,
) -> tuple[Inquiry, GivenIndex, OneVector]:
    index, embedder = GivenIndex({"dense": found}), embedder or OneVector()
    ports = Ports(embedder=embedder, index=index, model=model)
    own = hypothesis.Settings.model_validate({"passages": 1, **settings})
    return await hypothesis.build(own, ports)(inquiry), index, embedder


async def test_it_is_off_by_default() -> None:
    model = _saying(PASSAGE)
    step = hypothesis.build(
        hypothesis.Settings(), Ports(embedder=OneVector(), index=GivenIndex({}), model=model)
    )
    assert await step(_inquiry()) == _inquiry()
    assert model.prompts == []


async def test_the_passage_is_searched_by_meaning_beside_the_question() -> None:
    done, index, embedder = await _run(_inquiry(), _saying(PASSAGE))
    assert [search.leg for search in index.calls[0]] == ["dense"]
    assert embedder.asked[0][0] == (PASSAGE,)
    assert done.rankings[:2] == (WORDS, PLAIN)
    assert (done.rankings[2].query, done.rankings[2].is_hypothetical) == ("hypothesis 1", True)
    assert done.details["hypotheses"] == [PASSAGE]


async def test_three_passages_are_three_searches_in_one_call() -> None:
    told = [f"{PASSAGE} Version {number}." for number in range(4)]
    done, index, _ = await _run(_inquiry(), _saying(*told), passages=3)
    assert [search.leg for search in index.calls[0]] == ["dense"] * 3
    assert [found.query for found in done.rankings[2:]] == ["hypothesis 1", "hypothesis 2", "hypothesis 3"]
    assert done.rankings[2].weight == pytest.approx(0.7 / 3)


async def test_what_disagrees_with_the_question_counts_less() -> None:
    other = ranking("dense", [(f"x{number}", 0.9 - number / 100) for number in range(10)])
    near = ranking("dense", [(f"c{number}", 0.9 - number / 100) for number in range(2, 12)])
    far_done, _, _ = await _run(_inquiry(), _saying(PASSAGE), other)
    near_done, _, _ = await _run(_inquiry(), _saying(PASSAGE), near)
    assert (far_done.details["agreement"], near_done.details["agreement"]) == ([0.0], [0.8])
    assert far_done.rankings[2].weight == pytest.approx(0.2 * near_done.rankings[2].weight)
    ports = Ports(embedder=OneVector(), index=GivenIndex({}))
    fused = await fuse.build(fuse.Settings(dense_share=0.5), ports)(far_done)
    places = {str(hit.chunk.id): hit.rank for hit in fused.hits}
    assert places["c0"] == 1
    assert places["c0"] < places["x0"]


async def test_a_found_passage_rises() -> None:
    near = ranking("dense", [("c3", 0.95), *((f"c{number}", 0.5 - number / 100) for number in range(3))])
    done, _, _ = await _run(_inquiry(), _saying(PASSAGE), near)
    step = fuse.build(fuse.Settings(dense_share=0.5), Ports(embedder=OneVector(), index=GivenIndex({})))
    before, after = (await step(_inquiry())).hits, (await step(done)).hits
    assert [hit.rank for hit in after if hit.chunk.id == "c3"] < [
        hit.rank for hit in before if hit.chunk.id == "c3"
    ]


@pytest.mark.parametrize(
    "passage",
    [
        QUESTION,
        "",
        "Parental leave is long.",
        f"As an AI language model I cannot know. {PASSAGE}",
        f"Here is a passage: {PASSAGE}",
        "word " * 500,
        7,
    ],
)
async def test_a_bad_passage_is_discarded(passage: object) -> None:
    done, index, _ = await _run(_inquiry(), _saying(passage))
    assert (done.rankings, done.fallbacks) == ((WORDS, PLAIN), ("hypothesis_rejected",))
    assert index.calls == []


def test_a_chinese_passage_is_long_enough() -> None:
    text = "员工每年有二十五天的带薪年假，入职满一年后可以申请，未使用的年假最多可以结转五天到下一年度。" * 2
    assert usable([text], "年假有几天？", most=1) == (text,)


@pytest.mark.parametrize(
    "model",
    [
        ScriptedModel([ScriptedLine(fault=ModelUnavailable())]),
        ScriptedModel([ScriptedLine(pieces=("late",), gates=(asyncio.Event(),))]),
        ScriptedModel([ScriptedLine(pieces=("prose",)), ScriptedLine(pieces=("prose",))]),
    ],
)
async def test_a_model_that_fails_changes_nothing(model: ScriptedModel) -> None:
    done, _, _ = await _run(_inquiry(), model, seconds=0.2)
    assert (done.rankings, done.fallbacks) == ((WORDS, PLAIN), ("hypothesis_failed",))


async def test_without_the_embedder_nothing_changes() -> None:
    done, _, _ = await _run(_inquiry(), _saying(PASSAGE), embedder=OneVector(failure=EmbedderUnavailable()))
    assert done.fallbacks == ("hypothesis_failed",)


@pytest.mark.parametrize(
    "inquiry",
    [
        _inquiry("How long is the leave, and who approves it?"),
        _inquiry(rankings=()),
        _inquiry(query=replace(_inquiry().query, as_asked=True)),
        _inquiry(query=replace(_inquiry().query, legs=("lexical",))),
    ],
)
async def test_where_it_does_not_help_no_model_is_asked(inquiry: Inquiry) -> None:
    model = _saying(PASSAGE)
    done, _, _ = await _run(inquiry, model)
    assert done == inquiry
    assert model.prompts == []


async def test_the_model_reads_the_completed_and_corrected_question() -> None:
    model = _saying(PASSAGE)
    inquiry = replace(
        _inquiry("And there?"),
        question="How long is prental leave in Spain?",
        corrections={"prental": "parental"},
    )
    await _run(inquiry, model)
    assert model.prompts[0][1].messages[-1].content.endswith("How long is parental leave in Spain?")


def test_a_passage_that_was_made_up_is_no_evidence() -> None:
    told = "The lighthouse keeper paints boats."
    hit = ranking("dense", [(chunk("a", text=told), 0.9)])
    made_up = replace(hit, query=told, is_hypothetical=True)
    trust = {"familiarity": lambda _: 1.0, "contrast": 1.0}
    alone = judge(asked_wordings([QUESTION], [hit]), hit.hits, **trust)
    beside = judge(asked_wordings([QUESTION], [hit, made_up]), hit.hits, **trust)
    assert alone == beside
