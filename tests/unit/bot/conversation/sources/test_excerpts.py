"""A quote in its context, and as Markdown in which nothing of the file's means anything."""

from __future__ import annotations

import time

import pytest

from bot.conversation.sources.excerpts import find
from bot.port import PlatformLimits, Reply
from bot.rendering import pages
from bot.rendering.literal import literal
from rag_engine.types import Section

LOGS = "Ours is a small harbour. It has two quays. Logs are kept for two weeks. Nobody reads them. They are long. Then comes more."
TABLE = Section(text="Name | Days\nAnn | 5\nBen | 6\nCleo | 7", anchor="p. 4", kind="table")


def test_a_few_sentences_surround_the_quote() -> None:
    found = find("Logs are kept for two weeks.", "p. 3", [Section(text=LOGS, anchor="p. 3")])
    assert found is not None
    assert found.before == "Ours is a small harbour. It has two quays."
    assert found.quote == "Logs are kept for two weeks."
    assert found.after.startswith("Nobody reads them. They are long.")


def test_the_quote_is_taken_from_the_place_of_the_citation() -> None:
    sections = [Section(text=f"Page {page}. Same words.", anchor=f"p. {page}") for page in (1, 2, 3)]
    found = find("Same words.", "p. 2", sections)
    assert found is not None
    assert found.before == "Page 2."


def test_line_breaks_and_blanks_do_not_matter() -> None:
    found = find("kept for two weeks", "", [Section(text="Logs are kept\n\nfor  two\tweeks here.")])
    assert found is not None
    assert found.quote == "kept\n\nfor  two\tweeks"


def test_a_quote_across_sections_and_pages_is_found() -> None:
    sections = [
        Section(text="The lamp is changed", anchor="p. 1"),
        Section(text="every nine months.", anchor="p. 2", headings=("Lamps",)),
    ]
    found = find("The lamp is changed\n\nevery nine months.", "p. 1", sections)
    assert found is not None
    assert found.quote.endswith("nine months.")


def test_a_table_row_is_shown_below_its_header_between_its_neighbours() -> None:
    found = find("Ben | 6", "p. 4", [TABLE])
    assert found is not None
    assert (found.before, found.after) == ("Name | Days\nAnn | 5", "Cleo | 7")
    assert find("Ann | 5", "p. 4", [TABLE]) == find("Ann | 5", "", [TABLE])
    first = find("Ann | 5", "p. 4", [TABLE])
    assert first is not None
    assert first.before == "Name | Days"


@pytest.mark.parametrize("quote", ["Logs are kept for three weeks.", "", " \n"])
def test_what_is_not_there_is_not_found(quote: str) -> None:
    assert find(quote, "p. 3", [Section(text=LOGS, anchor="p. 3")]) is None


def test_long_context_is_cut_between_words() -> None:
    words = " ".join(f"word{number}" for number in range(2000))
    found = find("Here.", "", [Section(text=f"{words} Here. {words}")])
    assert found is not None
    assert len(found.before) < 350
    assert len(found.after) < 350
    assert found.before.startswith("… word")
    assert found.after.endswith(" …")


@pytest.mark.slow
def test_a_hostile_document_takes_no_time() -> None:
    sections = [Section(text="a " * 400_000), Section(text="a" * 400_000)]
    began = time.process_time()
    assert find("a " * 140 + "b", "", sections) is None
    assert time.process_time() - began < 5


HOSTILE = [
    "# Heading\n- item\n> quote\n---\n===",
    "```\ncode ` and ``` fence",
    "**bold** __under__ ~~gone~~ ||spoiler|| *x*",
    "[click](http://evil.example) ![image](http://evil.example/x.png) <http://evil.example>",
    "see evil.example.com or www.evil.com, mailto:x@evil.com",
    "@everyone @here <!channel> <@U123> <@&9> <#C1> &lt;!here&gt;",
    "\\*\\* \\[x](http://evil.example)",
    "1. one\n2) two\n-# small",
    "| a | b |\n|---|---|\n| c | d |",
]


@pytest.mark.parametrize("dialect", ["slack", "discord"])
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_words_stay_in_their_block_quote_and_are_read_as_they_are(text: str, dialect: str) -> None:
    found = find(text, "", [Section(text=f"Calm before. {text}\nCalm after.")])
    assert found is not None
    reply = Reply(text=f"heading\n\n{found.markdown()}\n\nlast", links=frozenset())
    (page,) = pages(reply, PlatformLimits(characters=4000, edit_seconds=1, dialect=dialect), final=True)
    _, *quoted, _ = page.text.split("\n\n")
    assert len(quoted) == 1
    lines = quoted[0].split("\n")
    assert all(line.startswith("> ") for line in lines)
    # Nothing but what we put there makes a line more than text.
    for line in lines:
        assert line[2:3] not in ("#", "-", ">", "|", "+", "=")
    shown = page.text
    for forbidden in ("](http", "<http", "@everyone", "@here", "<!", "<@", "<#"):
        assert forbidden not in shown
    assert "```" not in shown.replace("\\`", "")


def test_literal_is_one_line() -> None:
    assert literal("a\nb\t c") == "a b c"
    assert literal("12. of May") == "12\\. of May"
