"""From a reply to its pages: the small print, and the text of each page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.port import Button, File, Page, PlatformLimits, Reply, Source
from bot.rendering import links_in, pages
from bot.rendering.markdown.widths import width
from tests.hypothesis_profiles import examples

SLACK = PlatformLimits(characters=12_000, edit_seconds=1, dialect="slack")
DISCORD = PlatformLimits(characters=2_000, edit_seconds=1, dialect="discord")
COMMONMARK = PlatformLimits(characters=1 << 30, edit_seconds=0)
PAGES = Source(
    number=1, title="Leave policy.pdf", places="p. 3, p. 5", uri="https://chat.example/m/1?a=1&b=2"
)
LOCAL = Source(number=2, title="notes.txt", places="", uri="file:///notes.txt")


def only(reply: Reply, limits: PlatformLimits) -> Page:
    (page,) = pages(reply, limits, final=True)
    return page


def test_sources_are_small_print_with_their_links() -> None:
    reply = Reply(text="x [1] [2]", sources=(PAGES, LOCAL), notices=("The stream was cut.",))
    assert only(reply, SLACK).footer == (
        "<https://chat.example/m/1?a=1&amp;b=2|[1] Leave policy.pdf> — p. 3, p. 5\n[2] notes.txt\nThe stream was cut."
    )
    assert only(reply, DISCORD).footer == (
        "-# [1] [Leave policy.pdf](<https://chat.example/m/1?a=1&b=2>) — p. 3, p. 5\n-# [2] notes.txt\n-# The stream was cut."
    )
    assert (
        only(reply, COMMONMARK).footer
        == "[1] Leave policy.pdf — p. 3, p. 5\n[2] notes.txt\nThe stream was cut."
    )


def test_the_places_of_one_file_share_its_line() -> None:
    page_3, page_5 = (
        Source(number=number, title="a_b.pdf", places=f"p. {number}", uri="https://chat.example/m")
        for number in (3, 5)
    )
    reply = Reply(text="x", sources=(page_3, LOCAL, page_5))
    assert only(reply, SLACK).footer == (
        "<https://chat.example/m|[3] a_b.pdf> — p. 3 · [5] p. 5\n[2] notes.txt"
    )
    assert only(reply, DISCORD).footer == (
        "-# [3] [a_b.pdf](<https://chat.example/m>) — p. 3 · [5] p. 5\n-# [2] notes.txt"
    )
    assert only(reply, COMMONMARK).footer == "[3] a_b.pdf — p. 3 · [5] p. 5\n[2] notes.txt"


@pytest.mark.parametrize("limits", [SLACK, DISCORD], ids=["slack", "discord"])
@pytest.mark.parametrize(
    "said",
    [
        "For all of them: `/kb bind two_words`, `/kb list`.",
        "请添加文件；`/kb show`会列出文件（或`/kb list`）。",
        "追加してください。`/kb show`で分かります。",
        "`/help`에서 볼 수 있어요.",
    ],
)
def test_code_in_our_own_sentences_stays_code(limits: PlatformLimits, said: str) -> None:
    assert only(Reply(text="x", notices=(said,)), limits).footer.removeprefix("-# ") == said


def test_backticks_in_the_name_of_a_file_are_none_of_ours() -> None:
    said = "a`b*c`.md: nothing in it; see `/help`."
    assert only(Reply(text="x", notices=(said,)), DISCORD).footer == (
        "-# a\\`b\\*c\\`.md: nothing in it; see `/help`."
    )


@pytest.mark.parametrize("limits", [SLACK, DISCORD], ids=["slack", "discord"])
@examples(40)
@given(
    count=st.integers(0, 120),
    length=st.integers(0, 12_500),
    title=st.text(max_size=300),
    notices=st.lists(st.text(max_size=900), max_size=3),
)
def test_text_and_small_print_keep_to_the_limit(
    limits: PlatformLimits, count: int, length: int, title: str, notices: list[str]
) -> None:
    sources = tuple(
        Source(number=number, title=title, places="p. 1", uri="https://chat.example/m")
        for number in range(count)
    )
    shown = pages(
        Reply(text="word " * (length // 5), sources=sources, notices=tuple(notices)), limits, final=True
    )
    assert all(
        width(page.text) + width(page.footer) + width(page.status) <= limits.characters for page in shown
    )
    assert not any(page.footer for page in shown[:-1])
    assert all(width(page.footer) <= 3_000 for page in shown)
    assert bool(shown[-1].footer) >= bool(count)


def test_a_long_list_of_sources_says_how_many_are_left() -> None:
    sources = tuple(
        Source(number=number, title=f"{number}" + "t" * 150, places="", uri="") for number in range(1, 31)
    )
    lines = only(Reply(text="x", sources=sources), DISCORD).footer.split("\n")
    shown = [line for line in lines if line.startswith("-# [")]
    assert lines[-1] == f"-# and {30 - len(shown)} more: press Sources."
    assert 0 < len(shown) < 30


def test_small_print_that_does_not_fit_under_the_text_gets_its_own_message() -> None:
    shown = pages(Reply(text="word " * 399, sources=(PAGES,)), DISCORD, final=True)
    assert [bool(page.text) for page in shown] == [True, False]
    assert shown[1].footer.startswith("-# [1]")


def test_buttons_and_files_are_on_the_last_page() -> None:
    stop, picture = (
        Button(name="stop", label="Stop"),
        File(name="a.png", media_type="image/png", content=b"x", description=""),
    )
    reply = Reply(text="word " * 900, buttons=(stop,), files=(picture,))
    shown = pages(reply, DISCORD, final=True)
    assert [page.buttons for page in shown] == [(), (), (stop,)]
    assert [page.files for page in shown] == [(), (), (picture,)]
    assert all(page.reply is reply for page in shown)
    assert not any(page.files for page in pages(reply, DISCORD, final=False))


def test_a_status_is_shown_until_there_is_text() -> None:
    assert only(Reply(status="Searching\n<!channel>…"), SLACK).status == "Searching <\u200b!channel>…"
    (page,) = pages(Reply(status="Reading…", text="Hal"), DISCORD, final=False)
    assert (page.text, page.status) == ("", "Reading…")
    (page,) = pages(Reply(status="Reading…", text="Half a sen"), DISCORD, final=False)
    assert (page.text.rstrip(), page.status) == ("Half a", "")
    (page,) = pages(Reply(text="Hal"), DISCORD, final=False)
    assert page.status == "…"  # a message cannot be empty


def test_a_dialect_nobody_has_is_refused() -> None:
    for name in ("../x", "klingon"):
        with pytest.raises((ValueError, ImportError)):
            pages(Reply(text="x"), PlatformLimits(characters=100, edit_seconds=0, dialect=name), final=True)


def test_the_addresses_in_a_text_are_found() -> None:
    text = (
        "See https://a.example/x(1)?y=2. Or www.b.com, (http://c.example/), c@d.org; e.com/f! notes.txt 3.5 e.g. "
        "[text](https://g.example/h) 中文https://i.example。"
    )
    assert links_in(text) == {
        "https://a.example/x(1)?y=2",
        "www.b.com",
        "http://c.example/",
        "c@d.org",
        "e.com/f",
        "https://g.example/h",
        "https://i.example",
    }


def test_what_links_in_finds_may_be_shown() -> None:
    text = "Ask c@d.org, www.b.com or https://a.example/x(1)?y=2."
    assert only(Reply(text=text, links=links_in(text)), SLACK).text == text
    assert only(Reply(text=text, links=frozenset()), SLACK).text == (
        "Ask `c@d.org`, `www.b.com` or `https://a.example/x(1)?y=2`."
    )
