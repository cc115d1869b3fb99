"""Hostile files that are text, or say they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.hostile.archives import LAUGHS, OUTSIDE, QUADRATIC

if TYPE_CHECKING:
    from collections.abc import Callable

_DEEP: Final = 100_000


def _text(content: str) -> Callable[[], bytes]:
    return content.encode


FILES: Final[dict[str, Callable[[], bytes]]] = {
    "deep-divisions.html": lambda: ("<div>" * _DEEP + "words" + "</div>" * _DEEP).encode(),
    "deep-lists.html": lambda: ("<ul><li>" * _DEEP + "words").encode(),
    "deep-tables.html": lambda: ("<table><tr><td>" * _DEEP + "words").encode(),
    "deep-inline.html": lambda: ("<p>" + "<b>" * _DEEP + "words").encode(),
    "wide-cell.html": lambda: b"<table><tr><td colspan=1000000000 rowspan=1000000000>words</td></tr></table>",
    "attributes.html": lambda: (
        b"<p " + b" ".join(b"a%d=1" % number for number in range(200_000)) + b">words</p>"
    ),
    "comments.html": lambda: b"<html>" + b"<!--" * 500_000 + b"words",
    "unclosed.html": lambda: b"<html>" + b"<a" * 1_000_000 + b"words",
    "laughs.html": lambda: (LAUGHS + "<html><body>words &j;</body></html>").encode(),
    "laughs.xml": lambda: (f"{LAUGHS}<x>words &j;</x>").encode(),
    "quadratic.xml": lambda: (f"{QUADRATIC}<x>{'&a;' * 10_000}</x>").encode(),
    "outside-entity.xhtml": lambda: (f"{OUTSIDE}<html><body>words &a;</body></html>").encode(),
    "deep.json": lambda: b"[" * _DEEP + b"]" * _DEEP,
    "deep-objects.json": lambda: b'{"a":' * _DEEP + b"1" + b"}" * _DEEP,
    "long-number.json": lambda: b'{"a": ' + b"9" * 5_000_000 + b"}",
    "long-exponent.json": lambda: b'{"a": 1e999999999999}',
    "same-key.json": lambda: b"{" + b",".join(b'"a": 1' for _ in range(1_000_000)) + b"}",
    "many-keys.json": lambda: b"{" + b",".join(b'"k%d": 1' % number for number in range(1_000_000)) + b"}",
    "long-string.json": lambda: b'{"a": "' + b"x" * 20_000_000 + b'"}',
    "cut.json": lambda: b'{"a": [1, 2, {"b": "words',
    "surrogates.json": lambda: b'{"a": "\\ud800 words \\udfff"}',
    "deep-quotes.md": lambda: b"> " * _DEEP + b"words",
    "deep-lists.md": lambda: b"\n".join(b" " * (2 * level) + b"- words" for level in range(700)),
    "brackets.md": lambda: b"[" * _DEEP + b"words" + b"]" * _DEEP,
    "links.md": lambda: b"[a](" * 10_000,
    "emphasis.md": lambda: b"*a **a " * 10_000,
    "ticks.md": lambda: b"".join(b"`" * length + b"a" for length in range(1, 1_500)),
    "pictures.md": lambda: b"![" * 50_000 + b"words",
    "wide-table.md": lambda: b"|" * 20_000 + b"\n" + b"|-" * 20_000 + b"|\n" + b"|a\n" * 3_000,
    "references.md": lambda: (
        b"".join(b"[a%d]: /x\n" % number for number in range(50_000)) + b"[a1] " * 50_000
    ),
    "entities.md": lambda: b"&" * 50_000 + b"<" * 50_000,
    "wide.csv": lambda: b"," * 5_000_000,
    "wide-filled.csv": lambda: b"a," * 2_000_000 + b"\n" + b"b," * 2_000_000,
    "open-quote.csv": lambda: b'a,b\n"' + b"words,\n" * 3_000_000,
    "quotes.csv": lambda: b'""' * 5_000_000,
    "lines.csv": lambda: b"\n" * 20_000_000,
    "nul.csv": lambda: b"a,b\n\x00,\x00\n" * 1_000,
    "one-line.txt": lambda: b"x" * 50_000_000,
    "lines.txt": lambda: b"\n" * 50_000_000,
    "marks.txt": lambda: b"a" + "\u0301".encode() * 5_000_000,
    "override.txt": _text("\u202e\u2066" * 100_000 + "words"),
    "nul.txt": lambda: b"words\x00" * 100_000,
    "last-letters.txt": lambda: "\U0010ffff\ufffe\U000e0001 words".encode() * 1_000,
    "brackets.py": lambda: b"(" * 1_000_000,
    "definitions.py": lambda: b"def " * 1_000_000,
    "long-words.py": lambda: b"public static final " * 50_000 + b"x",
    "zeros.txt": lambda: bytes(1_000_000),
}
