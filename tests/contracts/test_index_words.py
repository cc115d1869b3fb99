"""Typing errors, corrections and synonyms, the same in every index."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from rag_engine.retrieval.queries.similar_names import names
from rag_engine.retrieval.queries.spelling_corrections import corrected_words
from rag_engine.text.analyzer import query_tokens, query_words, tokens
from tests.contracts.indexing import (
    StoredIndex,
    base,
    chunk,
    document,
    found,
    ids,
    lexical,
    pairs,
    put,
    vector,
)

if TYPE_CHECKING:
    from rag_engine.types import Search


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("Elastcsearch", ["a/0"]),
        ("elasticsaerhc cluster", ["a/0"]),
        ("recovrey of the cluster", ["a/0", "b/0"]),
        ("zzzzqqqq", []),
    ],
)
async def test_a_typing_error_is_found_nevertheless(
    index: StoredIndex, asked: str, expected: list[str]
) -> None:
    await put(index, document("a"), "An Elasticsearch cluster of three nodes")
    await put(index, document("b"), "The recovery plan")
    await put(index, document("c"), "Vacation and leave")
    assert sorted((await found(index, lexical(asked)))[0]) == expected


@pytest.mark.parametrize(
    ("asked", "meant", "more"), [("cofee", "coffee", "Cole"), ("habror", "harbor", "Habrox")]
)
async def test_a_letter_doubled_or_swapped_is_likelier_than_a_more_frequent_word(
    index: StoredIndex, asked: str, meant: str, more: str
) -> None:
    await put(index, document("a"), f"{more} waits")
    await put(index, document("b"), f"{more} stays")
    await put(index, document("c"), f"The {meant} is warm")
    (ranking,) = await index.search([lexical(asked)])
    assert {words[0] for words in ranking.corrections.values()} <= set(tokens(meant, language="en"))
    assert ranking.corrections


async def test_corrections_are_named_and_can_be_refused(index: StoredIndex) -> None:
    await put(index, document("a"), "An Elasticsearch cluster of three nodes")
    await put(index, document("theirs", knowledge_base="theirs"), "Elastisearch of others")
    asked = lexical("Elastcsearch nodes")
    literal = replace(asked, literal=frozenset(asked.tokens))
    corrected, as_typed, theirs = await index.search([asked, literal, lexical("Elastcsearch", "theirs")])
    (token,) = tokens("Elasticsearch", language="en")
    assert {word for words in corrected.corrections.values() for word in words} == {token}
    assert set(corrected.corrections) <= set(asked.tokens)
    assert ids(as_typed) == ["a/0"]
    assert as_typed.hits[0].score < corrected.hits[0].score
    assert as_typed.corrections == {}
    assert token not in {word for words in theirs.corrections.values() for word in words}


async def test_another_word_of_german_is_not_said_to_be_mistyped(index: StoredIndex) -> None:
    texts = {"a": "Die Kissen sind in der Kammer.", "b": "Die Kündigungsfrist ist ein Monat."}
    for name, text in texts.items():
        of = document(name)
        await index.put(of, [(chunk(of, text, language="de"), vector(1))])
    asked = "Wie lang ist die Kündigugnsfrist der Kasse?"
    (ranking,) = await index.search([lexical(asked)])
    assert "kiss" in {word for words in ranking.corrections.values() for word in words}
    assert corrected_words(asked, ranking) == {"Kündigugnsfrist": "Kündigungsfrist"}


async def test_synonyms_find_less_than_typed_words(index: StoredIndex) -> None:
    await put(index, document("typed"), "The pto is long")
    await put(index, document("synonym"), "The leave is long")
    await put(index, document("neither"), "Another text is here")
    search = replace(lexical("pto"), synonyms={base("kb"): {"leav": 0.7}})
    (ranking,) = await index.search([search])
    assert ids(ranking) == ["typed/0", "synonym/0"]
    assert ranking.hits[1].score == pytest.approx(0.7 * ranking.hits[0].score, rel=1e-6)


async def test_synonyms_alone_find(index: StoredIndex) -> None:
    await put(index, document("a"), "The leave is long")
    await put(index, document("b"), "A heron stands in water")
    search = replace(
        lexical("herron"), synonyms={base("kb"): {"leav": 0.7}}, literal=frozenset(query_tokens("herron"))
    )
    (ranking,) = await index.search([search])
    assert (ids(ranking), ranking.corrections) == (["a/0"], {})


async def test_synonyms_hold_in_their_own_knowledge_base_alone(index: StoredIndex) -> None:
    await put(index, document("ours"), "The leave is long")
    await put(index, document("theirs", knowledge_base="theirs"), "The leave is long")
    both = replace(lexical("pto", "kb", "theirs"), synonyms={base("kb"): {"leav": 0.7}})
    foreign = replace(lexical("pto"), synonyms={base("theirs"): {"leav": 0.7}})
    unknown = replace(lexical("pto"), synonyms={base("none"): {"leav": 0.7}})
    assert await found(index, both, foreign, unknown) == [["ours/0"], [], []]


async def test_a_wrong_chinese_character_is_found_nevertheless(index: StoredIndex) -> None:
    await put(index, document("a"), "游戏王的卡片分为怪兽、魔法和陷阱三种。")
    await put(index, document("b"), "端口隔离在交换机上配置。", seed=5)
    assert (await found(index, lexical("游喜王")))[0][0] == "a/0"


async def test_a_model_number_in_a_chinese_question_finds_its_manual(index: StoredIndex) -> None:
    for number, model in enumerate(("TL-SE2108", "TL-SE2109", "TL-SE2110")):
        await put(index, document(model), f"{model}的端口隔离在交换机的管理页面配置。", seed=number)
    assert (await found(index, lexical("TL-SE2109的端口隔离怎么配置")))[0][0] == "TL-SE2109/0"


async def test_a_word_that_some_chunk_has_is_not_corrected(index: StoredIndex) -> None:
    await put(index, document("a"), "The leaves of a tree")
    await put(index, document("b"), "A leader and a reader")
    assert await found(index, lexical("reader")) == [["b/0"]]


async def test_many_similar_words_of_others_do_not_keep_a_word_from_being_corrected(
    index: StoredIndex,
) -> None:
    await put(index, document("ours"), "The recovery plan", "Vacation")
    before = await index.search([lexical("recovrey")])
    assert [ids(ranking) for ranking in before] == [["ours/0"]]
    letters = "abcdefghijklmnopqrstuvwxyz"
    similar = [
        f"{'recovrey'[:place]}{letter}{'recovrey'[place + more :]}"
        for place in range(1, 8)
        for letter in letters
        for more in (0, 1)
    ]
    of = document("theirs", knowledge_base="theirs")
    await index.put(of, pairs(of, *[" ".join(similar)] * 3))
    assert await index.search([lexical("recovrey")]) == before


async def test_a_typing_error_of_others_does_not_switch_corrections_off(index: StoredIndex) -> None:
    await put(index, document("ours"), "The recovery plan", "Vacation")
    of = document("theirs", knowledge_base="theirs")
    await put(index, of, "The recovrey plan", *(f"recoverx{letter}" for letter in "abcd"))
    assert await found(index, lexical("recovrey")) == [["ours/0"]]


def named(question: str, *bases: str) -> Search:
    found = names(query_words(question), "en")
    return replace(lexical(question, *bases), tokens=(), names=found)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("What is AX-240?", ["pump/0"]),
        ("What is ax2o4?", ["pump/0"]),
        ("What is INC471?", ["incident/0"]),
        ("Where is Muller?", ["person/0"]),
        ("Where is Mueller?", ["person/0"]),
        ("Where is Hartm?", ["person/0"]),
        ("Where is Christensen?", ["other/0"]),
        ("Where is Müller?", []),
        ("What is AX-204?", []),
        ("Where is Papadopoulos?", []),
    ],
)
async def test_a_misspelt_name_or_code_is_found_by_its_letters(
    index: StoredIndex, asked: str, expected: list[str]
) -> None:
    await put(index, document("pump"), "The pump AX-204 is blue")
    await put(index, document("incident"), "Report INC4711: the pump leaks")
    await put(index, document("person"), "Müller-Hartmann works upstairs")
    await put(index, document("other"), "Kristensen works downstairs")
    assert (await found(index, named(asked)))[0] == expected


async def test_names_of_others_are_no_similar_names(index: StoredIndex) -> None:
    await put(index, document("ours"), "The plan of the pump")
    before = await index.search([named("What is AX-240?")])
    await put(index, document("theirs", knowledge_base="theirs"), "The pump AX-204", "AX-241, AX-242")
    assert await index.search([named("What is AX-240?")]) == before
    assert await found(index, named("What is AX-240?", "theirs")) == [["theirs/1", "theirs/0"]]


async def test_a_misspelt_name_is_a_correction_and_another_code_is_none(index: StoredIndex) -> None:
    await put(index, document("a"), "Kristensen has the pump AX-204")
    name, part, code = await index.search(
        [named("Where is Christensen?"), named("Where is Kristen?"), named("What is AX-240?")]
    )
    assert name.corrections == {"christensen": ("kristensen",)}
    assert [ids(each) for each in (part, code)] == [["a/0"], ["a/0"]]
    assert (part.corrections, code.corrections) == ({}, {})


async def test_corrections_follow_what_is_added_and_removed(index: StoredIndex) -> None:
    async def corrected() -> tuple[str, ...]:
        await index.search([lexical("orchrad")])
        (ranking,) = await index.search([lexical("orchrad")])
        return ranking.corrections.get("orchrad", ())

    await put(index, document("a"), "a walled garden")
    assert await corrected() == ()
    await put(index, document("b"), "an orchard")
    assert await corrected() == ("orchard",)
    await put(index, document("c"), "the orchrad")
    assert await corrected() == ()
    await index.drop(base("kb"), document("c").id)
    assert await corrected() == ("orchard",)
    await index.drop(base("kb"), document("b").id)
    assert await corrected() == ()
