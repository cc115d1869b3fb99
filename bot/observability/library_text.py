from __future__ import annotations

import ast
import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import logging

HIDDEN: Final = "…"
_FEWEST_LETTERS: Final = 8
_LONGEST: Final = 4000
_CONVERSION: Final = re.compile(r"%(?:\([^)]*\))?[-#0 +]*+[\d*]*+(?:\.[\d*]+)?[diouxXeEfFgGcrsa]")
_NUMBER: Final = re.compile(r"-?\d{1,6}(?:\.\d{1,6})?")


def constant_text(record: logging.LogRecord) -> str:
    """Values hidden; empty if the code says no such thing. The text may be a format or an f-string anywhere in the module."""
    message = record.getMessage()
    if len(message) > _LONGEST:
        return ""
    found = (_masked(message, template) for template in _templates(record.pathname))
    return next((text for text in found if text), "")


def _masked(message: str, template: tuple[str, ...]) -> str:
    first, *others = template
    if not message.startswith(first):
        return ""
    shown, at = [first], len(first)
    for number, part in enumerate(others, 1):
        last = number == len(others)
        end = len(message) - len(part) if last else message.find(part, at)
        if end < at or not message.startswith(part, end):
            return ""
        value = message[at:end]
        shown += [value if _NUMBER.fullmatch(value) else HIDDEN if value else "", part]
        at = end + len(part)
    return "".join(shown) if at == len(message) else ""


@lru_cache(maxsize=64)
def _templates(path: str) -> tuple[tuple[str, ...], ...]:
    try:
        tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return ()
    inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    found = {_parts(node) for node in ast.walk(tree) if id(node) not in inner}
    usable = [parts for parts in found if len(parts) > 1 and _letters(parts) >= _FEWEST_LETTERS]
    return tuple(sorted(usable, key=lambda parts: (-_letters(parts), parts)))


def _parts(node: ast.AST) -> tuple[str, ...]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return tuple(part.replace("%%", "%") for part in _CONVERSION.split(node.value))
    if not isinstance(node, ast.JoinedStr):
        return ()
    parts = [""]
    for value in node.values:
        if isinstance(value, ast.Constant):
            parts[-1] += str(value.value)
        else:
            parts.append("")
    return tuple(parts)


def _letters(parts: tuple[str, ...]) -> int:
    return sum(character.isalpha() for part in parts for character in part)
