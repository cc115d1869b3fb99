from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_INLINE: Final = re.compile(
    r"(?<!`)``(?!`)(?P<literal>.{1,2000}?)``(?=$|[^\w`])"
    r"|(?::[\w.+-]{1,60}){1,3}:`(?P<role>[^`]{1,2000})`"
    r"|_?(?<!`)`(?!`)(?P<quoted>[^`]{1,2000})`(?:__?|(?::[\w.+-]{1,60}:)?)"
    r"|\*\*(?P<strong>\S(?:.{0,2000}?\S)?)\*\*"
    r"|(?<![\w*])\*(?P<emphasis>[^\s*](?:[^*]{0,2000}?[^\s*\\])?)\*(?![\w*])"
    r"|\|(?P<substitution>[^|\s](?:[^|\n]{0,100}[^|\s])?)\|(?:__?)?"
    r"|\[(?P<note>[#*]?[\w.-]{0,60})\]_"
    r"|(?<![\w`])(?P<reference>[A-Za-z0-9][\w.+-]{0,100}?)__?(?![\w`])"
    r"|\\(?P<escaped>.)",
    re.DOTALL,
)
_TARGET: Final = re.compile(r"\s*<[^<>]*>\s*$", re.DOTALL)


def plain(text: str, substitutions: Mapping[str, str]) -> str:

    def replaced(match: re.Match[str]) -> str:
        kind = match.lastgroup or ""
        words = match[kind]
        match kind:
            case "role" | "quoted":
                return (_TARGET.sub("", words) or words.strip("<> ")).removeprefix("~").removeprefix("!")
            case "strong" | "emphasis":
                return words
            case "substitution":
                return substitutions.get(words, match[0].rstrip("_"))
            case "note":
                return f"[{words}]"
            case "escaped":
                return "" if words.isspace() else words
            case _:
                return words

    return _INLINE.sub(replaced, text)
