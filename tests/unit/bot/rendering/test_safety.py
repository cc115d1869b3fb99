"""Whatever a model writes, nobody is pinged and no link leads where the reply may not lead."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.port import PlatformLimits, Reply, Source
from bot.rendering import pages
from tests.hypothesis_profiles import examples
from tests.unit.bot.rendering import attacks, detectors
from tests.unit.bot.rendering.markdown_texts import texts

SLACK = PlatformLimits(characters=12_000, edit_seconds=1, dialect="slack")
DISCORD = PlatformLimits(characters=2_000, edit_seconds=1, dialect="discord")
BOTH = pytest.mark.parametrize("limits", [SLACK, DISCORD], ids=["slack", "discord"])


def shown(text: str, limits: PlatformLimits, *, final: bool = True) -> list[str]:
    return [page.text for page in pages(Reply(text=text, links=attacks.PERMITTED), limits, final=final)]


def pings(text: str, limits: PlatformLimits) -> list[str]:
    return detectors.slack_pings(text) if limits is SLACK else detectors.discord_pings(text)


def foreign(text: str, limits: PlatformLimits, permitted: frozenset[str] = attacks.PERMITTED) -> list[str]:
    found = detectors.slack_links(text) if limits is SLACK else detectors.discord_links(text)
    return detectors.foreign(found, permitted)


def test_there_are_many_attacks_and_the_detectors_see_them() -> None:
    assert len(attacks.PINGS) > 150
    assert len(attacks.LINKS) > 150
    seen = sum(
        bool(detectors.slack_pings(attack) or detectors.discord_pings(attack)) for attack in attacks.PINGS
    )
    assert seen > 0.85 * len(attacks.PINGS)
    seen = sum(bool(foreign(attack, SLACK) or foreign(attack, DISCORD)) for attack in attacks.LINKS)
    assert seen > 0.85 * len(attacks.LINKS)


@BOTH
def test_nobody_is_pinged(limits: PlatformLimits) -> None:
    bad = [
        (attack, text)
        for attack in attacks.PINGS
        for text in (*shown(attack, limits), *shown(attack, limits, final=False))
        if pings(text, limits)
    ]
    assert not bad, "\n".join(map(repr, bad[:12]))


@BOTH
def test_no_foreign_link_is_shown(limits: PlatformLimits) -> None:
    bad = [
        (attack, text, foreign(text, limits))
        for attack in attacks.LINKS
        for text in (*shown(attack, limits), *shown(attack, limits, final=False))
        if foreign(text, limits)
    ]
    assert not bad, "\n".join(map(repr, bad[:12]))


@BOTH
def test_no_letter_of_an_attack_is_lost(limits: PlatformLimits) -> None:
    """What is no link is text: every letter and digit of an address can still be read."""
    for attack in attacks.LINKS:
        if "<" in attack or "&" in attack or attack.startswith(("~~~", "```")):
            continue  # tags, entities and what follows a fence have letters that are not read
        said = re.sub(r"[\W_]", "", "".join(shown(attack, limits)))
        for word in re.findall(r"[^\W_]+", attack):
            assert word in said, attack


@BOTH
def test_permitted_links_stay(limits: PlatformLimits) -> None:
    for text in (
        "[the handbook](https://ok.example/handbook)",
        "See https://ok.example/handbook.",
        "[a](http://ok.example/a_(b)?c=d&e=f)",
        "<https://wiki.ok.example>",
        "[ok.example](https://ok.example/handbook)",
    ):
        page = shown(text, limits)[0]
        found = detectors.slack_links(page) if limits is SLACK else detectors.discord_links(page)
        assert any("ok.example" in address for address in found), page
        assert not foreign(page, limits)


def test_text_of_our_own_may_link_anywhere_on_the_web() -> None:
    reply = Reply(text="[a](https://any.example) [b](javascript:x) @everyone")
    page = pages(reply, DISCORD, final=True)[0].text
    assert "[a](https://any.example)" in page
    assert "(`javascript:x`)" in page
    assert not detectors.discord_pings(page)


@BOTH
def test_the_addresses_of_sources_are_permitted(limits: PlatformLimits) -> None:
    source = Source(number=1, title="a", places="", uri="https://files.example/1")
    reply = Reply(text="[here](https://files.example/1)", links=frozenset(), sources=(source,))
    assert pages(reply, limits, final=True)[0].text == reply.text


@BOTH
@pytest.mark.parametrize("field", ["title", "places"])
def test_names_in_the_small_print_neither_ping_nor_link(limits: PlatformLimits, field: str) -> None:
    for name in attacks.NAMES:
        for uri in (
            "https://files.example/1?a=b&c=d",
            "file:///x",
            "javascript:alert(1)",
            "https://a.example/<!here>|x",
        ):
            source = replace(Source(number=1, title="t", places="p", uri=uri), **{field: name})
            reply = Reply(text="x", sources=(source,), notices=(name,))
            footer = pages(reply, limits, final=True)[0].footer
            assert not pings(footer, limits), (name, footer)
            found = detectors.mrkdwn_links(footer) if limits is SLACK else detectors.discord_links(footer)
            assert not detectors.foreign(found, frozenset({uri})), (name, found, footer)
            assert footer.count("\n") == (1 if name.strip() else 0), footer


@BOTH
@pytest.mark.parametrize(
    "sentence", ["{}: no text; see `/kb show`.", "`{}`", "see `{}", "`a` {} `b`", "{}`/kb show`"]
)
def test_names_beside_and_in_code_in_the_small_print_neither_ping_nor_link(
    limits: PlatformLimits, sentence: str
) -> None:
    for name in (
        *attacks.NAMES,
        *(f"`{each}" for each in attacks.NAMES),
        *(f"{each}` x" for each in attacks.NAMES),
    ):
        footer = pages(Reply(text="x", notices=(sentence.format(name),)), limits, final=True)[0].footer
        assert not pings(footer, limits), (name, footer)
        found = detectors.mrkdwn_links(footer) if limits is SLACK else detectors.discord_links(footer)
        assert not detectors.foreign(found, frozenset()), (name, found, footer)


@BOTH
@examples(60)
@given(
    text=st.lists(texts, min_size=1, max_size=8).map("\n\n".join),
    room=st.integers(1000, 2000),
    final=st.booleans(),
)
@example(text="<#é\n\n", room=1000, final=False)
@example(text="<a:1>", room=1000, final=True)
def test_random_text_is_safe_wherever_it_is_cut(
    limits: PlatformLimits, text: str, room: int, *, final: bool
) -> None:
    small = PlatformLimits(characters=room, edit_seconds=1, dialect=limits.dialect)
    permitted = frozenset({"https://ok.example/a"})
    for page in pages(Reply(text=text, links=permitted), small, final=final):
        assert not pings(page.text, limits)
        assert not foreign(page.text, limits, permitted), page.text


@BOTH
@pytest.mark.parametrize(
    "text",
    [
        "`" + "https://evil.example/x " * 200 + "`",
        "x `" + "y" * 1_500 + "` https://evil.example " + "`" + "z " * 700 + "`",
        "https://evil.example/" + "a" * 9_000,
        "[text](https://evil.example/" + "b" * 2_000 + ")",
        "```\n" + "https://evil.example/x\n" * 900 + "```\n" + "<!channel> @everyone " * 300,
        "# " + "`https://evil.example` " * 300,
        "#### " + "`https://evil.example` **x** " * 300,
        "| a |\n|---|\n| " + "`https://evil.example` " * 900 + "|",
        "- " * 12 + "```\n" + "  " * 12 + ("https://evil.example\n" + "  " * 12) * 700,
        "> " * 8 + "`https://evil.example` " * 700,
        "~~~\n```\nhttps://evil.example\n```\n~~~ \n" * 60,
        "`" * 30 + "\n" + "`" * 25 + "\nhttps://evil.example\n" + "`" * 30,
        "```\n```\n" * 30 + "```\nhttps://evil.example\n```",
        "```\n" + "\n" * 3_000 + "```\n\n```\nhttps://evil.example\n```",
    ],
    ids=lambda text: text[:12],
)
def test_long_text_is_safe_wherever_it_is_cut(limits: PlatformLimits, text: str) -> None:
    for end in (len(text), len(text) // 2, len(text) // 3):
        for page in shown(text[:end], limits, final=end == len(text)):
            assert not pings(page, limits)
            assert not foreign(page, limits), page[-200:]


@pytest.mark.parametrize("dialect", ["slack", "discord"])
@pytest.mark.parametrize(
    "address",
    [
        r"http\:\/\/evil.example/x",
        r"https\://evil.example",
        r"www\.evil.example",
        r"evil\.example.com/x",
        "http&#58;//evil.example",
        "https:&#x2F;&sol;evil.example",
    ],
)
def test_an_address_of_escaped_signs_is_no_link_either(dialect: str, address: str) -> None:
    limits = PlatformLimits(characters=2000, edit_seconds=1, dialect=dialect)
    (page,) = pages(Reply(text=f"See {address} for more.", links=frozenset()), limits, final=True)
    assert page.text == f"See `{address}` for more."
