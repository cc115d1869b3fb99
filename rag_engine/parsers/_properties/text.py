from __future__ import annotations

import re
from email import policy
from email.parser import BytesHeaderParser
from email.utils import getaddresses
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._shared.encoding import text_encoding

if TYPE_CHECKING:
    from pathlib import Path

_LONGEST_HEAD: Final = 64 << 10
_EMLX: Final = re.compile(rb"\s*\d{1,12}[ \t]*\r?\n")
_FRONT: Final = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\r?\n|$)", re.DOTALL)
_LINE: Final = re.compile(r"([A-Za-z][\w .-]{0,63}):(?:[ \t]+(.*))?")
_ITEM: Final = re.compile(r"[ \t]*-[ \t]+(.*)")


def mail(path: Path) -> dict[str, list[str]]:
    with path.open("rb") as file:
        head = file.read(_LONGEST_HEAD)
    if stated := _EMLX.match(head):
        head = head[stated.end() :]
    headers = BytesHeaderParser(policy=policy.default).parsebytes(head)
    people = {
        key: [name or address for name, address in getaddresses(list(map(str, headers.get_all(header, []))))]
        for key, header in (("author", "from"), ("to", "to"), ("cc", "cc"))
    }
    other = {
        "subject": [str(headers.get("subject", ""))],
        "created": [str(headers.get("date", ""))],
    }
    return {key: values for key, values in (people | other).items() if any(values)}


def front_matter(path: Path) -> dict[str, list[str]]:
    with path.open("rb") as file:
        head = file.read(_LONGEST_HEAD)
    front = _FRONT.match(head.decode(text_encoding(path), errors="replace"))
    found: dict[str, list[str]] = {}
    key = ""
    for line in (front[1] if front else "").splitlines():
        if named := _LINE.fullmatch(line.rstrip()):
            key = named[1]
            found[key] = _values(named[2] or "")
        elif key and (item := _ITEM.fullmatch(line)):
            found[key] += _values(item[1])
        elif line[:1] not in (" ", "\t"):
            key = ""
    return {name: values for name, values in found.items() if values}


def _values(text: str) -> list[str]:
    text = text.strip()
    listed = text[1:-1].split(",") if text.startswith("[") and text.endswith("]") else [text]
    return [value for part in listed if (value := part.strip().strip("\"'").strip())]
