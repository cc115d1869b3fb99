from __future__ import annotations

import copy
from functools import partial
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rag_engine.errors import BadSettings
from rag_engine.generation import passage_blocks, prompts
from rag_engine.generation.context_budget import (
    MESSAGE_OVERHEAD,
    Fitted,
    PromptLayout,
    fit,
    messages_size,
    prompt_budget,
    reply_reserve,
)
from rag_engine.text import tokens
from rag_engine.types import Hit, Message
from tests.hypothesis_profiles import examples
from tests.unit.prompting import conversation, passages

if TYPE_CHECKING:
    from collections.abc import Sequence


def word_count(text: str) -> int:
    return len(text.split())


def plain_layout(rules: str = "rule " * 20, count: tokens.Count = word_count) -> PromptLayout:
    """Messages without wrapping, so that sizes are easy to compute."""

    def assemble(
        blocks: Sequence[str], rounds: Sequence[prompts.Round], question: str
    ) -> tuple[Message, ...]:
        listed = "\n".join(blocks)
        earlier = [message for exchange in rounds for message in exchange]
        last = Message(role="user", content=f"{listed}\n{question}" if listed else question)
        return (Message(role="system", content=rules), *earlier, last)

    return PromptLayout(assemble=assemble, format=lambda number, hit, text: f"{number}) {text}", count=count)


REAL = PromptLayout(
    assemble=partial(prompts.answer, language="en"), format=passage_blocks.passage, count=tokens.estimate
)
RULES = messages_size(prompts.answer([""], (), ""), tokens.estimate)

sentence = st.lists(
    st.sampled_from(["alpha", "beta", "中文字", "<passage>", "[1]", "x" * 40]), min_size=1, max_size=30
).map(lambda found: " ".join(found) + ". ")
text = st.lists(sentence, min_size=1, max_size=12).map("".join)


@examples(60)
@given(
    question=text,
    texts=st.lists(text, max_size=6),
    turns=st.lists(text, max_size=8),
    room=st.integers(40, 3000),
)
def test_whatever_is_asked_the_budget_holds(
    question: str, texts: list[str], turns: list[str], room: int
) -> None:
    budget = RULES + room
    hits = passages(*texts)
    rounds = prompts.rounds(conversation(*turns))
    before = copy.deepcopy((hits, rounds))
    fitted = fit(question, hits, rounds, budget=budget, layout=REAL)

    assert fitted.tokens == messages_size(fitted.messages, tokens.estimate) <= budget
    assert (hits, rounds) == before
    assert fitted == fit(question, hits, rounds, budget=budget, layout=REAL)
    assert fitted.messages[0].content == prompts.instructions("answer", passages=bool(fitted.excerpts))
    assert (
        fitted.messages[-1]
        .content.rstrip()
        .endswith(prompts.answer((), (), fitted.question)[-1].content.partition("Question:\n")[2].rstrip())
    )
    assert_order_is_kept(fitted, hits)
    assert fitted.rounds == rounds[len(rounds) - len(fitted.rounds) :]


def assert_order_is_kept(fitted: Fitted, hits: tuple[Hit, ...]) -> None:
    ranks = [excerpt.hit.rank for excerpt in fitted.excerpts]
    assert ranks == sorted(set(ranks))
    for number, excerpt in enumerate(fitted.excerpts, 1):
        assert excerpt.hit in hits
        assert excerpt.hit.chunk.text.startswith(excerpt.text)
        assert f'<passage id="{number}"' in fitted.messages[-1].content


@examples(60)
@given(question=text, texts=st.lists(text, min_size=1, max_size=6), room=st.integers(300, 3000))
def test_the_best_passage_is_always_there(question: str, texts: list[str], room: int) -> None:
    fitted = fit(question, passages(*texts), (), budget=RULES + room, layout=REAL)
    assert fitted.excerpts[0].hit.rank == 1


@examples(60)
@given(question=text, texts=st.lists(text, max_size=4), turns=st.lists(text, max_size=4))
def test_what_fits_is_sent_whole(question: str, texts: list[str], turns: list[str]) -> None:
    hits, rounds = passages(*texts), prompts.rounds(conversation(*turns))
    fitted = fit(question, hits, rounds, budget=10**6, layout=REAL)
    blocks = [passage_blocks.passage(number, hit, hit.chunk.text) for number, hit in enumerate(hits, 1)]
    assert fitted.messages == prompts.answer(blocks, rounds, question, language="en")
    exact = fit(question, hits, rounds, budget=fitted.tokens, layout=REAL)
    assert exact == fitted


@examples(60)
@given(question=text, texts=st.lists(text, max_size=4), spare=st.integers(150, 600))
def test_a_question_that_fits_beside_the_rules_is_never_cut(
    question: str, texts: list[str], spare: int
) -> None:
    budget = messages_size(prompts.answer([""], (), question, language="en"), tokens.estimate) + spare
    assert fit(question, passages(*texts), (), budget=budget, layout=REAL).question == question


def test_a_question_too_long_is_cut_in_its_middle_and_a_passage_still_fits() -> None:
    question = "Begin here. " + "Middle words. " * 2000 + "End there?"
    fitted = fit(question, passages("A passage of some words. " * 20), (), budget=RULES + 600, layout=REAL)
    assert tokens.OMISSION in fitted.question
    assert fitted.question.startswith("Begin here.")
    assert fitted.question.endswith("End there?")
    assert fitted.excerpts
    assert fitted.tokens <= RULES + 600


def test_rules_that_do_not_fit_are_a_matter_of_settings() -> None:
    with pytest.raises(BadSettings, match="FOOTNOTE_MODEL__CONTEXT_TOKENS"):
        fit("Why?", (), (), budget=100, layout=REAL)


@pytest.mark.parametrize(("rules", "question", "limit"), [(100, 900, 500), (390, 110, 400)])
def test_sizes_that_overran_elsewhere(rules: int, question: int, limit: int) -> None:
    layout = plain_layout("rule " * (rules - MESSAGE_OVERHEAD))
    fitted = fit("word " * question, (), (), budget=limit, layout=layout)
    assert fitted.tokens <= limit
    assert fitted.messages[0].content == "rule " * (rules - MESSAGE_OVERHEAD)


def test_the_newest_rounds_are_kept() -> None:
    turns = [f"turn{number} " + "w " * 19 for number in range(20)]
    rounds = prompts.rounds(conversation(*turns))
    layout = plain_layout()
    base = messages_size(layout.assemble((), (), "Why?"), word_count)
    fitted = fit(
        "Why?", (), rounds, budget=base + 3 * messages_size(rounds[0], word_count) + 5, layout=layout
    )
    assert fitted.rounds == rounds[-3:]


def test_passages_take_most_of_the_room_and_history_what_is_left() -> None:
    hits = passages(*["p " * 49 + f"{number}." for number in range(12)])
    rounds = prompts.rounds(conversation(*["t " * 20 for _ in range(40)]))
    layout = plain_layout()
    fitted = fit("Why?", hits, rounds, budget=650, layout=layout)
    assert len(fitted.excerpts) >= 7
    assert len(fitted.rounds) >= 3
    assert fitted.tokens > 600


def test_what_history_leaves_flows_to_passages() -> None:
    hits = passages(*["p " * 49 + f"{number}." for number in range(12)])
    fitted = fit("Why?", hits, (), budget=600, layout=plain_layout())
    assert len(fitted.excerpts) == 10
    assert fitted.tokens > 530


def test_a_long_passage_is_cut_between_sentences() -> None:
    hits = passages("One two three four. " * 60, "Five six seven eight nine. " * 60)
    fitted = fit("Why?", hits, (), budget=380, layout=plain_layout())
    assert [excerpt.text.endswith(".") for excerpt in fitted.excerpts] == [True, True]
    assert all(excerpt.text != excerpt.hit.chunk.text for excerpt in fitted.excerpts)


@given(st.integers(512, 2_000_000), st.integers(1, 100_000))
def test_the_budget_leaves_room_for_the_reply(window: int, wanted: int) -> None:
    reserve = reply_reserve(window, wanted)
    assert reserve >= 256
    assert reserve <= max(256, window // 4)
    assert prompt_budget(window, wanted) + reserve <= 0.95 * window
    assume(window >= 1024)
    assert reserve == max(256, min(wanted, window // 4))


def test_a_count_that_does_not_add_up_still_keeps_the_budget() -> None:
    """Joined text may have more tokens than its parts, so the whole is counted again."""
    layout = plain_layout(count=lambda text: word_count(text) + word_count(text) ** 2 // 100)
    hits = passages(*["p " * 49 + f"{number}." for number in range(12)])
    fitted = fit("Why?", hits, (), budget=600, layout=layout)
    assert fitted.tokens == messages_size(fitted.messages, layout.count) <= 600
    assert fitted.excerpts
