"""Definitions by their first line, for languages without a grammar."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MODIFIERS: Final = (
    r"(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|pub(?:\([^)]*\))?|unsafe|data"
    r"|sealed|override|virtual|inline|extern|const|open|suspend|local|partial|readonly|lateinit|case|implicit|lazy|fileprivate"
    r"|mutating|class(?=\s+func)|external|factory|comptime|noncomputable|recursive|pure|elemental|declare|actual|expect)\s+)*"
)
_NAMED: Final = (
    r"class|def[pn]?|defmodule|defmacro|func|fun|fn|function|sub|proc|procedure|subroutine|method|interface|struct|enum|trait"
    r"|impl|module|namespace|object|type|record|protocol|extension|mixin|macro|message|service|rpc|input|union|contract|event"
    r"|program|package|library|actor|instance|newtype|val(?=\s+\w+\s*[:=]\s*function)|entity|architecture"
)
_SQL: Final = (
    r"(?:create|alter|drop)\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+|unique\s+|materialized\s+)*"
    r"(?:table|view|function|procedure|index|trigger|type|schema|database|sequence|role|user|policy|extension|package)"
    r"\s+(?:if\s+(?:not\s+)?exists\s+)?[\w$.\"`\[\]]+|insert\s+into\s+[\w$.\"`\[\]]+|(?:update|delete\s+from|merge\s+into|grant|with)\s+[\w$.\"`]+"
)
DEFINITION: Final = re.compile(
    rf"(?P<indent>[ \t]*){_MODIFIERS}(?P<name>(?:{_NAMED})\s+(?:\([^)]{{0,80}}\)\s*)?[\w$.:?!'<>~-]+)",
    re.IGNORECASE,
)
_OTHERS: Final = (
    re.compile(rf"(?P<indent>)(?P<name>{_SQL})", re.IGNORECASE),
    re.compile(r"(?P<indent>)(?P<name>[\w:-]+)\s*\(\)\s*\{?\s*$"),
    re.compile(
        r"(?P<indent>)(?P<name>(?:resource|data|variable|output|provider|module|locals|terraform)(?:\s+\"[^\"]+\"){0,2})\s*\{"
    ),
    re.compile(r"(?P<indent>)(?P<name>[\w.]+)\s*(?:<-|=)\s*function\s*\("),
    re.compile(r"(?P<indent>)(?P<name>FROM\s+\S+(?:\s+AS\s+\S+)?)\s*$"),
    re.compile(r"(?P<indent>)(?P<name>[\w./%$(){}-]+(?: [\w./%$(){}-]+){0,5})\s*::?(?![=:])(?:\s+[^=]*)?$"),
    re.compile(r"(?P<name>diff --git .{1,200}|Index: .{1,200})(?P<indent>)$"),
    re.compile(r"(?P<indent>)(?P<name>:[\w-]+)\s*$"),
)
_CLOSERS: Final = ("}", ")", "]", "end", "else", "elif", "except", "finally", "catch", "{")
_TAB: Final = 4
_DEEPEST_INDENT: Final = 16
_NO_NAMES: Final = re.compile(
    r"(?:type|record|instance|class|object|module|package|event|method|input|with|message|program)\s+(?:of|is|in|the|a|to|as|for|and)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Start:
    line: int
    indent: int
    label: str


def starts(lines: Iterable[str]) -> Iterator[Start]:
    for number, line in enumerate(lines, 1):
        if not line or line.lstrip().startswith(_CLOSERS) or len(line) > 500:
            continue
        found = DEFINITION.match(line)
        if found is None and not line[0].isspace():
            found = next((match for pattern in _OTHERS if (match := pattern.match(line))), None)
        if found is None or _NO_NAMES.match(found["name"]):
            continue
        indent = len((found["indent"] or "").expandtabs(_TAB))
        if indent <= _DEEPEST_INDENT:
            yield Start(number, indent, " ".join(found["name"].split()))
