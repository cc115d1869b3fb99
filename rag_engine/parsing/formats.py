"""What each parser declares about its format, read without importing it.

A module of `rag_engine.parsers` may assign these literals:
`SUFFIXES`: further file suffixes, separated by blanks; its own name always counts.
`MAGIC`: pairs of first bytes and the suffix they prove.
`STREAMS`: streams at the root of an OLE file, comma-separated, that prove the format.
`BEGINNING`: a regular expression for the beginning of text without a known suffix.
`CONTENT`: `text`, `binary` or both; other content under the suffix is an error. Without it the parser decides.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from rag_engine import plugins

if TYPE_CHECKING:
    from collections.abc import Mapping

FAMILY: Final = "rag_engine.parsers"
_CONSTANTS: Final = ("SUFFIXES", "MAGIC", "STREAMS", "BEGINNING", "CONTENT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Formats:
    parsers: frozenset[str]
    suffixes: Mapping[str, str]
    magic: tuple[tuple[bytes, str], ...]
    """Longest first."""
    streams: Mapping[str, str]
    beginnings: tuple[tuple[re.Pattern[str], str], ...]
    text: frozenset[str]
    binary: frozenset[str]

    def parser(self, suffix: str) -> str:
        return self.suffixes.get(suffix, suffix)


def formats() -> Formats:
    return _formats(plugins.search_path(FAMILY))


@functools.lru_cache(maxsize=1)
def _formats(path: tuple[str, ...]) -> Formats:
    parsers = plugins.available(FAMILY)
    declared = {parser: plugins.declarations(FAMILY, parser, *_CONSTANTS) for parser in parsers}

    def words(constant: str, separator: str | None = None) -> dict[str, str]:
        return {
            word.strip(): parser
            for parser, constants in declared.items()
            for word in cast("str", constants.get(constant, "")).split(separator)
        }

    def having(content: str) -> frozenset[str]:
        return frozenset(
            parser
            for parser, constants in declared.items()
            if content in cast("str", constants.get("CONTENT", "")).split()
        )

    pairs = [
        pair
        for constants in declared.values()
        for pair in cast("tuple[tuple[bytes, str], ...]", constants.get("MAGIC", ()))
    ]
    return Formats(
        parsers=frozenset(parsers),
        suffixes=words("SUFFIXES"),
        magic=tuple(sorted(pairs, key=lambda pair: -len(pair[0]))),
        streams={stream: parser for stream, parser in words("STREAMS", ",").items() if stream},
        beginnings=tuple(
            (re.compile(cast("str", constants["BEGINNING"])), parser)
            for parser, constants in declared.items()
            if "BEGINNING" in constants
        ),
        text=having("text"),
        binary=having("binary"),
    )
