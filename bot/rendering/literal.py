from __future__ import annotations

import re
from typing import Final

from bot.rendering.footers import outside_code
from bot.rendering.safety.pings import BREAK

_MARKS: Final = re.compile(r"([\\`*\[\]<>&~|!#]|(?<![^\W_])_|_(?![^\W_])|^[-+=])")
"""Without single underscores within a word. Rendering breaks links and mentions."""
_NUMBERED: Final = re.compile(r"^(\d{1,9})([.)])")
_REORDERING: Final = str.maketrans(dict.fromkeys("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"))
"""They would change the order of our own words."""
_EMOJI: Final = re.compile(r"(?<=:)(?=[a-z0-9_+\-]{1,50}:)", re.IGNORECASE)


def literal(text: str) -> str:
    """Escaped for CommonMark, on one line."""
    return _escaped(" ".join(text.split()))


def literal_sentence(text: str) -> str:
    """Only code spans stay Markdown."""
    return outside_code(_EMOJI.sub(BREAK, " ".join(text.split())), _escaped)


def _escaped(text: str) -> str:
    plain = text.translate(_REORDERING)
    return _NUMBERED.sub(r"\1\\\2", _MARKS.sub(r"\\\1", plain))
