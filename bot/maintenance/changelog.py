from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

_HEADING: Final = re.compile(r"## \[(?P<version>[^\]]+)\]")
_NUMBERS: Final = re.compile(r"\d+(?:\.\d+)*")
_BREAKING: Final = "**Breaking:**"
_UNRELEASED: Final = "Unreleased"
_NAME: Final = "CHANGELOG.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Breaking:
    version: str
    text: str


def breaking_changes(changelog: str, *, since: str, until: str) -> list[Breaking]:
    """After `since` (empty: all), newest first; what is unreleased belongs to `until`."""
    found: list[Breaking] = []
    version = ""
    lines = changelog.splitlines()
    for number, line in enumerate(lines):
        if heading := _HEADING.match(line):
            version = heading["version"]
        elif line.startswith(f"- {_BREAKING}") and _between(version, since, until):
            entry = [line.removeprefix(f"- {_BREAKING}"), *_continued(lines[number + 1 :])]
            found.append(Breaking(version=version, text=" ".join(" ".join(entry).split())))
    return found


def shipped() -> str:
    """In a wheel it is in the package, in a checkout beside it."""
    packed = files("bot") / _NAME
    if packed.is_file():
        return packed.read_text(encoding="utf-8")
    return (Path(__file__).parents[2] / _NAME).read_text(encoding="utf-8")


def _continued(lines: list[str]) -> list[str]:
    ends = (number for number, line in enumerate(lines) if not line.startswith("  "))
    return lines[: next(ends, len(lines))]


def _between(version: str, since: str, until: str) -> bool:
    if version == _UNRELEASED:
        return True
    return (not since or _number(version) > _number(since)) and _number(version) <= _number(until)


def _number(version: str) -> tuple[int, ...]:
    found = _NUMBERS.match(version)
    return tuple(int(part) for part in found[0].split(".")) if found else ()
