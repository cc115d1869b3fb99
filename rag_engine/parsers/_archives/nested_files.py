from __future__ import annotations

import re
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final, Protocol, cast

from rag_engine import plugins
from rag_engine.errors import EmptyDocument
from rag_engine.parsers._archives.unpacking_limits import Exhausted, Unpacking, failure, left_out_sentence
from rag_engine.parsers._shared.sections import one_line
from rag_engine.parsing import formats, media_types
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

SEPARATOR: Final = " › "
"""Between a member's name and the anchor inside it."""
CHUNK: Final = 1 << 20
_LONGEST_NAME: Final = 80
_NOT_OF_PEOPLE: Final = re.compile(
    r"(?:^|/)(?:__MACOSX|\.git|\.svn|\.hg|__pycache__|\.Trashes|\.Spotlight-V100)(?:/|$)"
    r"|(?:^|/)(?:\.DS_Store|Thumbs\.db|desktop\.ini|\._[^/]*|\.localized)$",
    re.IGNORECASE,
)
_BIDIRECTIONAL: Final = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069]")


@dataclass(frozen=True, slots=True, kw_only=True)
class NestedFile:
    """`chunks` restarts with every call; `packed`: compressed size, 0 if unknown."""

    name: str
    chunks: Callable[[], Iterable[bytes]]
    packed: int = 0
    obstacle: Exception | None = None


class _Parser(Protocol):
    def parse(self, path: Path) -> Iterator[Section]: ...
    def within(self, path: Path, unpacking: Unpacking) -> Iterator[Section]: ...


def sections(members: Iterable[NestedFile], unpacking: Unpacking, *, alone: bool = True) -> Iterator[Section]:
    """Anchored "name › place", then a notice about unreadable members.

    Raises a `UserError` if no member is readable and they are `alone`.
    """
    found = read = 0
    errors: dict[str, Exception] = {}
    for member in members:
        name = safe_name(member.name)
        if _NOT_OF_PEOPLE.search(name):
            continue
        found += 1
        try:
            for section in _member_sections(member, name, unpacking):
                read += section.kind != "notice"
                yield section
        except EmptyDocument:
            continue
        except Exception as error:  # noqa: BLE001 - a bug of a parser or a library costs this member only
            errors[name] = error
            if isinstance(error, Exhausted):
                break
    if alone and not read:
        raise failure(errors, found)
    if errors:
        yield Section(text=left_out_sentence(errors, found), kind="notice")


def safe_name(name: str) -> str:
    plain = _BIDIRECTIONAL.sub("", one_line(name.replace("\\", "/")))
    parts = [part for part in plain.split("/") if part.strip(". ") and not re.fullmatch("[A-Za-z]:", part)]
    short = "/".join(parts) or "file"
    if len(short) > _LONGEST_NAME:
        short = parts[-1]
    return media_types.shown(short)


def _member_sections(member: NestedFile, name: str, unpacking: Unpacking) -> Iterator[Section]:
    if member.obstacle is not None:
        raise member.obstacle
    with written(member, unpacking) as path:
        for section in parsed(path, name, unpacking.deeper()):
            anchor = f"{name}{SEPARATOR}{section.anchor}" if section.anchor else name
            text = f"{name}: {section.text}" if section.kind == "notice" else section.text
            yield replace(section, text=text, anchor=anchor, headings=(name, *section.headings))


@contextmanager
def written(member: NestedFile, unpacking: Unpacking) -> Generator[Path]:
    """Raises a `UserError` if the member is refused or cannot be unpacked."""
    unpacking.begin()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path = Path(folder) / f"member{_safe_suffixes(member.name)}"
        _write(member, path, unpacking)
        yield path


def parsed(path: Path, name: str, unpacking: Unpacking) -> Iterator[Section]:
    parser = cast("_Parser", plugins.load(formats.FAMILY, media_types.parser_name(path, name)))
    if hasattr(parser, "within"):
        yield from parser.within(path, unpacking)
    else:
        yield from parser.parse(path)


def _write(member: NestedFile, path: Path, unpacking: Unpacking) -> None:
    size = 0
    with path.open("wb") as file:
        for chunk in member.chunks():
            size += len(chunk)
            unpacking.count(len(chunk), size, member.packed)
            file.write(chunk)
    if not size:
        raise EmptyDocument


def _safe_suffixes(name: str) -> str:
    suffixes = PurePosixPath(safe_name(name)).suffixes[-2:]
    return "".join(suffix for suffix in suffixes if re.fullmatch(r"\.[A-Za-z0-9]{1,12}", suffix))
