"""Every sentence that reaches chat exists in every language, wherever the source says it."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import cast, get_args

import pytest

import adapters
import bot
from bot.messages import CATALOG, LANGUAGES
from bot.messages.names import Sentence
from bot.messages.refusals import NameList, Phrase, PlaceName
from bot.messages.translation import FILE_REASONS, PLATFORM, TRANSLATOR, in_language
from bot.messages.workspace_names import sentence_on
from rag_engine.parsing.media_types import READABLE
from rag_engine.text.messages.message_catalog import places

OTHERS = sorted(set(LANGUAGES) - {"en"})
SAY = {"say", "Refusal", "Invalid", "NoSuchKnowledgeBase", "NoSuchDocument", "Phrase", "telling"}
"""Functions and classes whose first argument is the name of a sentence."""
SPOKEN_IN_FULL = {"WriteRefused"}
AT_START = {"adapters/slack/app.py", "adapters/discord/app.py", "adapters/discord/connection/gateway.py"}
"""Refusals that `footnote run` and `footnote doctor` print."""


@cache
def source(package: str | None) -> tuple[tuple[str, ast.AST], ...]:
    """The calls and constants of a package, each with its file."""
    folder = Path(cast("str", package)).parent
    return tuple(
        (file.relative_to(folder.parent).as_posix(), node)
        for file in sorted(folder.rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call | ast.Constant)
    )


def called(node: ast.AST) -> str:
    match node:
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return name
        case _:
            return ""


def first_names(node: ast.AST) -> list[str]:
    """The constants that the first argument may be; several where it is `a if x else b`."""
    if not isinstance(node, ast.Call) or not node.args:
        return []
    options = [node.args[0]]
    if isinstance(node.args[0], ast.IfExp):
        options = [node.args[0].body, node.args[0].orelse]
    return [
        option.value
        for option in options
        if isinstance(option, ast.Constant) and isinstance(option.value, str)
    ]


def test_every_name_that_is_said_is_a_sentence() -> None:
    names = set(get_args(Sentence))
    said = [
        (where, name)
        for where, node in source(bot.__file__)
        if called(node) in SAY
        for name in first_names(node)
    ]
    assert len(said) > 100
    assert [(where, name) for where, name in said if name not in names] == []


def test_every_sentence_of_the_catalog_is_used() -> None:
    constants = {
        node.value
        for where, node in source(bot.__file__)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and where != "bot/messages/names.py"
    }
    assert set(get_args(Sentence)) - constants == set()


def test_every_value_that_is_said_fills_a_place_and_every_place_is_filled() -> None:
    english = CATALOG.sentences("en")
    for where, node in source(bot.__file__):
        if called(node) not in SAY - {"Phrase"} or not isinstance(node, ast.Call):
            continue
        given = {word.arg for word in node.keywords}
        for name in first_names(node):
            if None not in given:
                assert given == places(english[name]), (where, name)


@pytest.mark.parametrize("language", OTHERS)
def test_what_platforms_refuse_is_known_in_every_language(language: str) -> None:
    english = cast("dict[str, object]", PLATFORM.sentences("en"))
    assert PLATFORM.sentences(language).keys() == english.keys()
    for name, sentence in english.items():
        for wording in cast("list[str]", sentence if isinstance(sentence, list) else [sentence]):
            translation = cast("str", PLATFORM.sentences(language)[name])
            assert places(translation) <= places(wording)
            text = re.sub(r"\{\w+\}", "x_y", wording)
            assert in_language(text, language) not in {"", text}, wording


def test_every_refusal_of_an_adapter_is_known() -> None:
    unknown: list[tuple[str, str]] = []
    for where, node in source(adapters.__file__):
        if called(node) in SPOKEN_IN_FULL and where not in AT_START:
            unknown += [(where, name) for name in first_names(node) if not TRANSLATOR.knows(name)]
    assert unknown == []


@pytest.mark.parametrize(
    "file", ["slack/incoming/downloads.py", "discord/incoming/downloads.py", "discord/api.py"]
)
def test_every_refusal_that_an_adapter_keeps_in_a_constant_is_known(file: str) -> None:
    tree = ast.parse((Path(cast("str", adapters.__file__)).parent / file).read_text(encoding="utf-8"))
    sentences: list[str] = []
    for node in ast.walk(tree):
        values = node.values if isinstance(node, ast.Dict) else ()
        values = [node.value] if isinstance(node, ast.Return | ast.Assign) else values
        sentences += [
            value.value
            for value in values
            if isinstance(value, ast.Constant) and isinstance(value.value, str) and value.value.endswith(".")
        ]
    assert sentences
    assert [sentence for sentence in sentences if not TRANSLATOR.knows(sentence)] == []


@pytest.mark.parametrize("language", OTHERS)
def test_the_stored_reasons_of_files_are_read_in_the_language(language: str) -> None:
    values = {"size": "70", "most": "64", "sentence": READABLE, "count": 3, "name": "a.pdf"}
    for name in FILE_REASONS:
        text = CATALOG.say(name, "en", values)
        assert in_language(text, language) != text
        assert READABLE not in in_language(text, language)


def test_names_of_places_are_described_in_the_language() -> None:
    thread = PlaceName(Phrase("this_thread"))
    assert thread.in_language("de") == "dieser Thread"
    assert thread.is_description
    hr = PlaceName(Phrase("this_channel"), origin=Phrase("of_channel", {"channel": "#hr"}))
    assert hr.in_language("de") == "dieser Kanal (von #hr)"
    handbook = PlaceName("handbook", origin=Phrase(sentence_on("slack", "of_workspace")), suffix="3f2a1b")
    assert handbook.in_language("fr") == "handbook (de l’espace de travail) 3f2a1b"


def test_names_by_people_are_never_translated() -> None:
    for text in ("this week", "this thread", "handbook (of the workspace)"):
        assert PlaceName(text).in_language("de") == text
        assert not PlaceName(text).is_description


def test_lists_of_names_end_as_the_language_does() -> None:
    a, b, c = map(PlaceName, "abc")
    assert NameList((a, b, c), 4).in_language("de") == "a, b und c"
    assert NameList((a, b, c), 2).in_language("de") == "a und 2 weitere"
    assert NameList((a, PlaceName(Phrase("this_thread"))), 4).in_language("ja") == "a、このスレッド"


def test_long_lists_of_names_are_cut() -> None:
    names = [*map(PlaceName, "abcde")]
    assert NameList([], 4).in_language("en") == ""
    assert NameList(names[:1], 4).in_language("en") == "a"
    assert NameList(names[:4], 4).in_language("en") == "a, b, c and d"
    assert NameList(names, 4).in_language("en") == "a, b, c and 2 more"
