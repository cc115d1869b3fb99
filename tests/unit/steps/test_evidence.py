"""The decision before writing, as a step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np

from rag_engine.embedders.hashing import HashingEmbedder
from rag_engine.errors import EmbedderUnavailable
from rag_engine.generation.prompts import WEAK
from rag_engine.models.scripted import ScriptedModel
from rag_engine.pipeline import Inquiry
from rag_engine.steps import evidence, pack
from rag_engine.steps.fuse import LegTrust
from rag_engine.types import Hit, KnowledgeBaseId, Query, Ranking
from tests.unit.prompting import passages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag_engine.types import Matrix, Side

_TEXT = "The notice period is four weeks to the end of a month."


async def _contrast() -> float:
    return 1.0


async def _known() -> bool:
    return True


_TRUST = LegTrust(familiarity=lambda _: 1.0, contrast=_contrast, knows_meaning=_known)


def _inquiry(question: str, *texts: str, language: str = "en", cosine: float = 0.6) -> Inquiry:
    hits = tuple(
        replace(hit, chunk=replace(hit.chunk, language=language)) for hit in passages(*texts or (_TEXT,))
    )
    dense = tuple(Hit(chunk=hit.chunk, score=cosine, rank=hit.rank) for hit in hits)
    return Inquiry(
        query=Query(text=question, knowledge_bases=frozenset([KnowledgeBaseId("kb")])),
        question=question,
        rankings=(Ranking(leg="lexical", hits=hits), Ranking(leg="dense", hits=dense)),
        hits=hits,
    )


async def _weigh(inquiry: Inquiry, *, has_model: bool = False, **settings: object) -> Inquiry:
    return await evidence.weigh(
        inquiry,
        settings=evidence.Settings.model_validate(settings),
        has_model=has_model,
        embedder=HashingEmbedder(dimensions=256, max_tokens=256),
        trust=_TRUST,
    )


def _judged(inquiry: Inquiry) -> Mapping[str, object]:
    return cast("Mapping[str, object]", inquiry.details["evidence_judged"])


async def test_passages_that_answer_stay() -> None:
    asked = _inquiry("How long is the notice period?")

    done = await _weigh(asked)

    assert (done.hits, done.closest) == (asked.hits, ())
    assert _judged(done)["answered"] is True


async def test_passages_that_do_not_answer_become_the_closest() -> None:
    asked = _inquiry("What did Ada Lovelace earn in 1842?", cosine=0.1)

    done = await _weigh(asked)

    assert (done.hits, done.closest) == ((), asked.hits)
    assert done.unmentioned == ("Ada", "Lovelace", "1842")
    assert _judged(done)["answered"] is False
    assert await _weigh(done) == done


async def test_strong_weak_and_no_evidence_differ_in_word_and_prompt() -> None:
    strong = await _weigh(_inquiry("How long is the notice period?"))
    weak = await _weigh(_inquiry("How long is the notice period?"), strong=1)
    none = await _weigh(_inquiry("Who won the 1990 World Cup?", cosine=0.1))
    assert [done.evidence for done in (strong, weak, none)] == ["strong", "weak", "none"]
    model = ScriptedModel((), context_tokens=32_000)
    packed = [await pack.pack(done, settings=pack.Settings(), model=model) for done in (strong, weak, none)]
    prompts = {"".join(said.content for said in done.prompt.messages) for done in packed if done.prompt}
    assert len(prompts) == 3
    assert [WEAK.text in prompt for prompt in sorted(prompts, key=len)] == [False, False, True]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Synonyms:
    """Knows that holidays are leave."""

    is_down: bool = False
    model: str = "synonyms"
    dimensions: int = 2
    max_tokens: int = 256

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    async def embed(self, texts: Sequence[str], *, side: Side) -> Matrix:
        if self.is_down:
            raise EmbedderUnavailable
        meant = ("holidays" in text or "leave" in text for text in texts)
        return np.array([(1.0, 0.0) if same else (0.0, 1.0) for same in meant], dtype=np.float32)


async def test_a_sentence_that_says_it_in_other_words_answers() -> None:
    asked = _inquiry(
        "How many holidays can employees take?", f"Staff get 28 days of leave. {_TEXT} {_TEXT[4:]}"
    )
    other = replace(asked.query, text="How many holidays can employees of Kiruna take?")
    named = replace(asked, query=other, question=other.text)

    async def evidence_of(inquiry: Inquiry, *, familiarity: float = 1.0, is_down: bool = False) -> str:
        done = await evidence.weigh(
            inquiry,
            settings=evidence.Settings(),
            has_model=False,
            embedder=_Synonyms(is_down=is_down),
            trust=replace(_TRUST, familiarity=lambda _: familiarity),
        )
        assert done.by_meaning is (done.evidence == "weak")
        return done.evidence

    assert await evidence_of(asked) == "weak"
    assert await evidence_of(named) == "none"
    assert await evidence_of(asked, familiarity=0.5) == "none"
    assert await evidence_of(asked, is_down=True) == "none"


async def test_the_line_can_be_moved_and_the_step_switched_off() -> None:
    unknown, known = (
        _inquiry("Who won the 1990 World Cup?", cosine=0.1),
        _inquiry("How long is the notice period?"),
    )

    assert (await _weigh(unknown, line=0)).hits
    assert (await _weigh(unknown, enabled=False)) is unknown
    assert not (await _weigh(known, line=1)).hits


async def test_with_a_model_the_line_is_another_one() -> None:
    asked = _inquiry("What did Ada Lovelace earn in 1842?", *[_TEXT] * 9, cosine=0.1)

    assert not (await _weigh(asked, has_model=True)).hits
    assert (await _weigh(asked, has_model=True, line_with_model=0)).hits
    assert not (await _weigh(asked, has_model=False, line_with_model=0)).hits


async def test_a_model_that_can_be_given_all_passages_reads_them() -> None:
    asked = _inquiry("What did Ada Lovelace earn in 1842?", *[_TEXT] * 8, cosine=0.1)

    assert (await _weigh(asked, has_model=True)).hits
    assert not (await _weigh(asked)).hits


async def test_a_follow_up_is_judged_by_its_own_words_too() -> None:
    asked = _inquiry("And how long is the notice period?")
    joined = replace(asked, question=f"Who painted Mona Lisa for Francesco in 1503? {asked.question}")

    assert (await _weigh(joined)).hits


def _after(earlier: str, asked: str) -> Inquiry:
    """`asked` in a conversation, searched for with and without the earlier question, by the step's own rules."""
    joined, alone = _inquiry(f"{earlier} {asked}"), _inquiry(asked, cosine=0.1)
    named = tuple(replace(ranking, query=asked) for ranking in alone.rankings)
    return replace(joined, query=alone.query, beside=asked, rankings=(*joined.rankings, *named))


async def test_earlier_words_do_not_answer_for_words_that_no_file_holds() -> None:
    earlier = "How long is the notice period?"

    assert [(await _weigh(_after(earlier, asked))).evidence for asked in ("asdfgh", "pizza recipe")] == [
        "none",
        "none",
    ]
    for asked in ("month?", "Why?", "How much?", "and for freelancers?", "Does it apply to freelancers?"):
        assert (await _weigh(_after(earlier, asked))).hits


async def test_an_independent_question_is_not_answered_by_the_conversation_beside_it() -> None:
    asked = _after("How long is the notice period?", "pizza recipe")
    own = [replace(ranking, query="") for ranking in asked.rankings if ranking.query]
    whole = [replace(ranking, query=asked.question) for ranking in asked.rankings if not ranking.query]
    turned = replace(asked, question="pizza recipe", beside=asked.question, rankings=(*own, *whole))

    assert (await _weigh(turned)).evidence == "none"


async def test_one_of_two_things_asked_is_enough() -> None:
    assert (await _weigh(_inquiry("How long is the notice period and who owns the castle of Windsor?"))).hits


async def test_a_question_in_another_language_is_judged_by_meaning() -> None:
    spanish = "¿Cuánto dura el plazo de preaviso para los empleados?"

    assert (await _weigh(_inquiry(spanish, cosine=0.7))).hits
    assert not (await _weigh(_inquiry(spanish, cosine=0.05))).hits


async def test_a_translation_is_judged_by_its_own_rankings() -> None:
    german = "Die Kündigungsfrist beträgt vier Wochen zum Monatsende."
    asked = _inquiry("How long is the notice period?", german, language="de", cosine=0.1)
    translated = replace(
        asked,
        rankings=(
            *asked.rankings,
            *(replace(ranking, query="Wie lang ist die Kündigungsfrist?") for ranking in asked.rankings),
        ),
    )

    assert not (await _weigh(asked)).hits
    assert (await _weigh(translated)).hits


async def test_keywords_ask_nothing() -> None:
    asked = _inquiry("Who won the 1990 World Cup?", cosine=0.1)
    keywords = replace(asked.rankings[0], query="notice period")

    assert not (await _weigh(replace(asked, rankings=(*asked.rankings, keywords)))).hits


async def test_a_reranker_has_a_say() -> None:
    asked = _inquiry("What did Ada Lovelace earn in 1842?", cosine=0.1)
    sure = replace(asked, hits=tuple(replace(hit, score=1.0) for hit in asked.hits)).noting(reranked=[])

    assert (await _weigh(sure)).hits


async def test_whole_files_that_are_asked_for_are_read_however_surely_they_answer() -> None:
    inquiry = _inquiry("Who founded Rome?", *("The canteen is closed." for _ in range(12)), cosine=0.05)
    assert (await _weigh(inquiry, has_model=True)).hits == ()
    asked = replace(inquiry.query, options=replace(inquiry.query.options, whole_files=True))
    assert (await _weigh(replace(inquiry, query=asked), has_model=True)).hits == inquiry.hits
    assert (await _weigh(replace(inquiry, query=asked))).hits == ()
