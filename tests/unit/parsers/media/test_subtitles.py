"""Subtitles and lyrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rag_engine.parsers.media import subtitles
from tests.unit.parsers.parsed import parsed, places

if TYPE_CHECKING:
    from pathlib import Path


def test_cues_are_joined_and_keep_their_times(tmp_path: Path) -> None:
    content = """1
00:00:01,000 --> 00:00:03,500
<i>Welcome to</i>

2
00:00:03,600 --> 00:00:05,000 X1:40
{\\an8}the harbour &amp; port.

3
01:01:05,000 --> 01:01:06,000
Yes.

4
01:01:07,000 --> 01:01:08,000
Yes.
"""
    assert places(parsed(tmp_path, subtitles.parse, content.replace("\n", "\r\n"))) == [
        ("00:00:01–00:00:05", (), "Welcome to the harbour & port."),
        ("01:01:05–01:01:08", (), "Yes. Yes."),
    ]


def test_roll_up_captions_are_not_repeated(tmp_path: Path) -> None:
    content = """WEBVTT
Kind: captions

NOTE not said

STYLE
::cue { color: red }

00:01.000 --> 00:02.500 align:start
<v Anna>Hello there<00:00:01.500><c> my friend</c>

00:02.500 --> 00:02.510
Hello there my friend

00:02.510 --> 00:04.000
Hello there my friend
how are you

00:04.000 --> 00:06.000
<v.loud Bob>Fine, thanks.
"""
    assert places(parsed(tmp_path, subtitles.parse, content)) == [
        ("00:00:01–00:00:06", (), "Anna: Hello there my friend how are you\nBob: Fine, thanks.")
    ]


def test_long_speech_is_cut_at_sentence_ends(tmp_path: Path) -> None:
    cues = "".join(
        f"{n}\n00:{n // 60:02}:{n % 60:02},000 --> 00:{(n + 1) // 60:02}:{(n + 1) % 60:02},000\n"
        f"part {n} of what is said{'.' if n % 3 == 0 else ''}\n\n"
        for n in range(1, 301)
    )
    sections = parsed(tmp_path, subtitles.parse, cues)
    assert all(section.text.endswith(".") for section in sections)
    assert all(len(section.text) < 900 for section in sections)
    (of_100,) = [section for section in sections if "part 100 " in section.text]
    first, last = of_100.anchor.split("–")
    assert first <= "00:01:40" < "00:01:41" <= last


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            "[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n"
            "Dialogue: 0,0:00:01.00,0:00:03.00,D,Anna,0,0,0,,{\\i1}Hello,\\Nworld{\\i0}\n",
            ("00:00:01–00:00:03", (), "Anna: Hello, world"),
        ),
        (
            "0:00:01.000,0:00:03.000\nHello\n\n0:00:03.000,0:00:04.000\nagain\n",
            ("00:00:01–00:00:04", (), "Hello again"),
        ),
        (
            "[ti:Song]\n[00:12.00]Line one\n[00:15.30]Line two\n",
            ("00:00:12–00:00:15", (), "Line one Line two"),
        ),
        ("no times here\n", ("line 1", (), "no times here")),
    ],
)
def test_other_formats(tmp_path: Path, content: str, expected: tuple[str, tuple[str, ...], str]) -> None:
    assert places(parsed(tmp_path, subtitles.parse, content)) == [expected]
