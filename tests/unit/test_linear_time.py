"""What meets people's or files' text takes time in proportion to its length."""

from __future__ import annotations

import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import pytest

from adapters.discord import markdown as discord_markdown
from adapters.slack import markdown
from bot.access import document_lookup
from bot.commands import parser
from bot.conversation import triggers
from bot.conversation.newcomers.small_talk import small_talk
from bot.messages.translation import in_language
from bot.port import Command, Person, Place, PlatformLimits, Reply
from bot.rendering.pages import pages
from rag_engine.retrieval.queries import follow_ups
from rag_engine.retrieval.queries.early_vectors import written_strings
from rag_engine.splitters.structure import Settings, build
from rag_engine.summaries import intent, length_and_language
from rag_engine.text import question_parts
from rag_engine.text.analyzer import query_tokens
from rag_engine.text.language import detect
from rag_engine.text.sentences import split_sentences
from rag_engine.types import Document, DocumentId, KnowledgeBaseId, Section

if TYPE_CHECKING:
    from collections.abc import Callable

_SEEDS = (
    *(
        " ",
        "\n",
        "a",
        "A",
        "1",
        ".",
        ",",
        "-",
        "_",
        "*",
        "`",
        "~",
        "#",
        "|",
        "=",
        "/",
        "\\",
        "&",
        "@",
        "'",
        '"',
    ),
    *(
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "<",
        ">",
        "«",
        "“",
        "「",
        "é",
        "中",
        "!",
        "$",
        ":",
        "«»",
        "[](",
        "a b",
        "<a",
        "</",
        "**a",
    ),
    *(
        " \n",
        "1.",
        "- ",
        "> ",
        "a,",
        "a_",
        "http://a",
        "<!--",
        "| a ",
        "`` ",
        "&a;",
        "](",
        "([{",
        "| a | b |\n",
    ),
)
_FEW = 2_000
_TIMES = 4
_QUICK = 0.05
"""Seconds; less is not measured well."""
_MOST_RATIO = _TIMES * 2.2


def _is_quadratic(work: Callable[[str], object], seed: str, end: str) -> bool:
    """In two of two tries, so that a busy machine does not count."""
    return all(_grows(work, seed, end) for _ in range(2))


def _grows(work: Callable[[str], object], seed: str, end: str) -> bool:
    few, many = (f"{(seed * (size // len(seed) + 1))[:size]}{end}" for size in (_FEW, _FEW * _TIMES))
    first = _seconds(work, few)
    if first * _TIMES * _TIMES < _QUICK:
        return False
    second = _seconds(work, many)
    return second > _QUICK and second > first * _MOST_RATIO


def _seconds(work: Callable[[str], object], text: str) -> float:
    began = time.thread_time()
    with suppress(Exception):
        work(text)
    return time.thread_time() - began


def _slow(work: Callable[[str], object], ends: tuple[str, ...] = ("", "\0")) -> list[str]:
    return [repr(seed) for seed in _SEEDS for end in ends if _is_quadratic(work, seed, end)]


_FUNCTIONS: tuple[Callable[[str], object], ...] = (
    lambda text: written_strings(f'{{"queries": ["{text}'),
    follow_ups.leans_on_conversation,
    question_parts.parts,
    intent.requested,
    length_and_language.requested_style,
    length_and_language.without_style,
    lambda text: list(split_sentences(text)),
    query_tokens,
    detect,
    lambda text: in_language(text, "de"),
    small_talk,
    triggers.is_new_topic,
    lambda text: document_lookup.find((), text, base="", show=""),
)


@pytest.mark.parametrize("function", _FUNCTIONS)
def test_no_function_of_a_question_or_text_takes_quadratic_time(function: Callable[[str], object]) -> None:
    assert _slow(function, ("",)) == []


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["commonmark", "discord", "slack"])
@pytest.mark.parametrize("final", [True, False])
def test_no_reply_takes_quadratic_time_to_render(dialect: str, final: bool) -> None:
    limits = PlatformLimits(characters=2_000, edit_seconds=1, dialect=dialect)

    def render(text: str) -> object:
        return pages(Reply(text=text), limits, final=final)

    def table(text: str) -> object:
        return render(f"| a | b |\n|---|---|\n{text}")

    assert _slow(render, ("",)) == []
    assert not _is_quadratic(table, "| a | b |\n", "")


@pytest.mark.parametrize("line", ["", "bind ", "create name ", "settings mode ", "add ", "ask channel:"])
def test_no_command_takes_quadratic_time_to_read(line: str) -> None:
    place = Place(platform="slack", workspace="T1", channel="C1")

    def parse(text: str) -> object:
        return parser.parse(Command(id="1", name="kb", place=place, person=Person(id="U1"), line=line + text))

    assert _slow(parse) == []
    for seed in ("« ", '" ', "<a ", "“ ", "a=", "--a=b ", "https://a|"):
        assert not _is_quadratic(parse, seed, ""), seed


def test_no_message_of_slack_takes_quadratic_time_to_read() -> None:
    assert _slow(partial(markdown.to_commonmark, bot_user="U1", names={})) == []
    assert _slow(markdown.command_line) == []


def test_no_message_of_discord_takes_quadratic_time_to_read() -> None:
    names = discord_markdown.MentionNames(ours=frozenset({"1"}), people={}, roles={}, channels={})
    assert _slow(partial(discord_markdown.to_commonmark, names=names)) == []
    assert _slow(discord_markdown.thread_title) == []


def test_no_section_takes_quadratic_time_to_split() -> None:
    split = build(Settings(), count_tokens=lambda text: len(text.split()) + 2, max_tokens=256)
    document = Document(
        id=DocumentId("a"), knowledge_base=KnowledgeBaseId("b"), title="", uri="", media_type="", digest=""
    )
    for kind in ("prose", "list", "table", "code"):
        section = partial(Section, anchor="lines 1–9", kind=cast("Any", kind))
        assert _slow(lambda text, section=section: list(split(document, [section(text=text)])), ("",)) == []
