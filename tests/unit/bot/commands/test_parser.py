"""One line or named values: the same command with the same values."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.commands import SPECS, parse, usage
from bot.messages.refusals import Invalid
from bot.port import Command
from rag_engine.errors import UserError
from tests.unit.bot.access.knowledge import BEN, place

if TYPE_CHECKING:
    from collections.abc import Mapping


def command(name: str, line: str = "", values: Mapping[str, str] | None = None) -> Command:
    return Command(id="1", name=name, place=place(), person=BEN, line=line, values=values or {})


BOTH = [
    ("list", "kb list", {}),
    ("bind handbook", "kb bind", {"name": "handbook"}),
    ("  BIND   handbook ", "kb bind", {"name": "handbook"}),
    ("bind Team Handbook", "kb bind", {"name": "Team Handbook"}),
    ('bind "Team  Handbook"', "kb bind", {"name": "Team  Handbook"}),
    ("bind “Team Handbook”", "kb bind", {"name": "Team Handbook"}),
    ("bind <#C123|general>", "kb bind", {"name": "<#C123|general>"}),
    ("bind name:handbook", "kb bind", {"name": "handbook"}),
    ("create Handbook workspace", "kb create", {"name": "Handbook", "readers": "workspace"}),
    ("create Team Handbook --readers=channel", "kb create", {"name": "Team Handbook", "readers": "channel"}),
    ('create "workspace"', "kb create", {"name": "workspace"}),
    ("remove handbook report.pdf", "kb remove", {"name": "handbook", "document": "report.pdf"}),
    ('remove handbook "old report.pdf"', "kb remove", {"name": "handbook", "document": "old report.pdf"}),
    ("remove handbook", "kb remove", {"name": "handbook"}),
    ("remove document=report.pdf", "kb remove", {"document": "report.pdf"}),
    ("rm handbook", "kb remove", {"name": "handbook"}),
    ("add https://x.slack.com/archives/C1/p1", "kb add", {"link": "https://x.slack.com/archives/C1/p1"}),
    (
        "add <https://x.slack.com/p1|here> handbook",
        "kb add",
        {"link": "https://x.slack.com/p1", "name": "handbook"},
    ),
    ("add handbook https://x.slack.com/p1", "kb add", {"link": "https://x.slack.com/p1", "name": "handbook"}),
    ("synonyms", "kb synonyms", {}),
    (
        "synonyms add PTO = paid leave, vacation",
        "kb synonyms",
        {"action": "add", "terms": "PTO = paid leave, vacation"},
    ),
    ("synonyms remove PTO", "kb synonyms", {"action": "remove", "terms": "PTO"}),
    ("synonyms name:handbook", "kb synonyms", {"name": "handbook"}),
    (
        "synonyms add name:handbook x=y",
        "kb synonyms",
        {"action": "add", "name": "handbook", "terms": "x=y"},
    ),
    ("settings", "kb settings", {}),
    ("settings mode auto", "kb settings", {"mode": "auto"}),
    ("settings AUTO blended", "kb settings", {"mode": "auto", "knowledge": "blended"}),
    ("settings language auto mode mention", "kb settings", {"language": "auto", "mode": "mention"}),
    ("settings mode=thread language:de", "kb settings", {"mode": "thread", "language": "de"}),
    ("settings de", "kb settings", {"language": "de"}),
    ('settings persona:"Answer like a pirate"', "kb settings", {"persona": "Answer like a pirate"}),
    ("settings --persona “Be strict” auto", "kb settings", {"persona": "Be strict", "mode": "auto"}),
    ("settings persona Be strict, auto and brief", "kb settings", {"persona": "Be strict, auto and brief"}),
    ("settings auto empty=No luck <@U1>", "kb settings", {"mode": "auto", "empty": "No luck <@U1>"}),
    ("settings citations off route chat", "kb settings", {"citations": "off", "route": "chat"}),
    ("settings model fast temperature 0", "kb settings", {"model": "fast", "temperature": "0"}),
    ("settings reset persona", "kb settings", {"reset": "persona"}),
    ("", "kb help", {}),
    ("help", "kb help", {}),
    ("help expand", "kb help", {"command": "expand"}),
    ("expand off on", "kb expand", {"summaries": "off", "questions": "on"}),
    ("expand questions:on", "kb expand", {"questions": "on"}),
]


@pytest.mark.parametrize(("line", "name", "values"), BOTH)
def test_a_line_and_named_values_are_the_same_command(line: str, name: str, values: dict[str, str]) -> None:
    typed = parse(command("kb", line))
    assert (typed.spec.name, typed.values) == (name, values)
    if values:
        assert parse(command(name, values=values)) == typed


def test_the_platform_may_give_the_subcommand_in_the_name_and_the_rest_in_a_line() -> None:
    assert parse(command("/kb bind", "Team Handbook")).values == {"name": "Team Handbook"}


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ('What is "it"? name:x', {"question": 'What is "it"? name:x'}),
        ("channel: how many?", {"question": "how many?", "where": "channel"}),
        ("--channel how many?", {"question": "how many?", "where": "channel"}),
        ("Channel:how many?", {"question": "how many?", "where": "channel"}),
        ("channel how many?", {"question": "channel how many?"}),
        ("model:fast how many?", {"question": "how many?", "model": "fast"}),
        (
            '--model fast channel: --scope "Staff handbook" how many?',
            {"question": "how many?", "where": "channel", "model": "fast", "scope": "Staff handbook"},
        ),
        ("scope: what is in it?", {"question": "scope: what is in it?"}),
        (
            'file:"annual budget.pdf" --type pdf after:2025 tag:draft how much?',
            {
                "question": "how much?",
                "file": "annual budget.pdf",
                "type": "pdf",
                "after": "2025",
                "tag": "draft",
            },
        ),
        ("how much? type:pdf", {"question": "how much? type:pdf"}),
        ("file:///a.txt what is it?", {"question": "file:///a.txt what is it?"}),
        ("model 3, how much?", {"question": "model 3, how much?"}),
    ],
)
def test_a_question_is_taken_as_it_is_and_is_private_unless_it_begins_with_the_channel(
    line: str, values: dict[str, str]
) -> None:
    assert parse(command("ask", line)).values == values


@pytest.mark.parametrize(
    ("name", "line", "told"),
    [
        ("kb", "lst", "/kb list"),
        ("kb", "binds handbook", "/kb bind NAME"),
        ("kb", "xyzzy", "/kb help"),
        ("kb", "bind", "/kb bind NAME"),
        ("kb", 'bind ""', "/kb bind NAME"),
        ("kb", "list everything", "/kb list"),
        ("kb settings", "mode loud", "`mention`, `thread`, `auto`"),
        ("ask", "", "/ask QUESTION`"),
        ("ask", "channel:", "/ask QUESTION`"),
    ],
)
def test_what_is_not_understood_is_answered_with_how_it_is_typed(name: str, line: str, told: str) -> None:
    with pytest.raises(UserError) as caught:
        parse(command(name, line))
    assert told in str(caught.value)


def test_a_value_that_is_no_choice_is_reported_with_the_choices() -> None:
    with pytest.raises(UserError, match="`mode` can be `mention`, `thread`, `auto`, not `loud`"):
        parse(command("kb settings", values={"mode": "loud"}))


def test_usage_shows_what_must_be_given_and_what_may() -> None:
    shown = {spec.name: usage(spec) for spec in SPECS}
    assert shown["kb create"] == "/kb create NAME [channel|workspace]"
    assert shown["kb expand"] == "/kb expand [summaries:on|off] [questions:on|off] [name:NAME]"
    assert shown["kb gaps"] == "/kb gaps [digest:#CHANNEL|off]"
    assert shown["kb remove"] == "/kb remove [NAME] [DOCUMENT]"


def test_the_commands_fit_what_platforms_take() -> None:
    assert len({spec.name for spec in SPECS}) == len(SPECS)
    for spec in SPECS:
        assert len(spec.description) <= 100
        assert len(spec.options) <= 25
        required = [option.required for option in spec.options]
        assert required == sorted(required, reverse=True), "Discord wants required options first"
        for option in spec.options:
            assert option.name == option.name.lower()
            assert len(option.description) <= 100, option.description


@given(st.sampled_from(["kb", "ask", "help", "kb settings", "kb add"]), st.text(max_size=60))
def test_any_line_is_understood_or_refused_in_a_sentence(name: str, line: str) -> None:
    with suppress(UserError):
        assert all(parse(command(name, line)).values.values())


@pytest.mark.parametrize("name", ["ask", "about", "research", "table"])
@pytest.mark.parametrize("words", ["\u200b", "\u202e \u2060", "\x00", "\ufeff"])
def test_invisible_characters_are_no_argument(name: str, words: str) -> None:
    for given_by in (command(name, words), command(name, values={"question": words})):
        with pytest.raises(Invalid, match="Something is missing"):
            parse(given_by)
