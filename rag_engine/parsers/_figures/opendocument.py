from __future__ import annotations

import base64
import binascii
import posixpath
import re
import zipfile
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

from lxml import etree

from rag_engine.parsers._figures.flow import FlowItem, FlowPicture, FlowText
from rag_engine.parsers._figures.limits import MOST_BYTES, within
from rag_engine.parsers._opendocument.objects import description
from rag_engine.parsers._opendocument.package import (
    DRAW,
    OFFICE,
    PRESENTATION,
    TEXT,
    XLINK,
    document,
    open_part,
)

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

_SLIDE: Final = re.compile(r"slide (\d{1,6})")
_IN_TEXT: Final = frozenset(
    {f"{OFFICE}document", f"{OFFICE}body", f"{OFFICE}document-content", f"{OFFICE}text"}
)
_IN_SLIDES: Final = frozenset(
    {f"{OFFICE}{name}" for name in ("document", "document-content", "body", "presentation", "drawing")}
)
_UNSEEN: Final = frozenset({f"{PRESENTATION}notes", f"{TEXT}tracked-changes", f"{OFFICE}annotation"})
_PARAGRAPHS: Final = frozenset({f"{TEXT}p", f"{TEXT}h"})
_CHUNK: Final = 1 << 20


@contextmanager
def text_document(path: Path, _: str) -> Generator[Iterator[FlowItem]]:
    yield (item for block in _blocks(path, f"{OFFICE}text", _IN_TEXT) for item in _flow(path, block))


@contextmanager
def slide(path: Path, anchor: str) -> Generator[Iterator[FlowItem]]:
    wanted = _SLIDE.match(anchor)
    yield _shapes(path, int(wanted[1]) if wanted else 0)


def _shapes(path: Path, wanted: int) -> Iterator[FlowItem]:
    pages = (
        block for block in _blocks(path, f"{OFFICE}presentation", _IN_SLIDES) if block.tag == f"{DRAW}page"
    )
    for number, page in enumerate(pages, 1):
        if number == wanted:
            yield from _flow(path, page)
            return


def _blocks(path: Path, parent: str, containers: frozenset[str]) -> Iterator[_Element]:
    return (block for block, ancestors in document(path, containers) if ancestors[-1].tag == parent)


def _flow(path: Path, block: _Element) -> Iterator[FlowItem]:
    words: list[str] = []
    walked = etree.iterwalk(block, events=("start", "end"))
    for event, element in walked:
        if event == "end":
            if element.tag in _PARAGRAPHS:
                yield FlowText(text="".join(words))
                words.clear()
            words.append("" if element is block else element.tail or "")
            continue
        if element.tag in _UNSEEN or _is_hidden(element):
            walked.skip_subtree()
            continue
        if element.tag in _PARAGRAPHS:
            yield FlowText(text="", begins=element.tag == f"{TEXT}h")
            words.append(element.text or "")
        elif str(element.tag).startswith(TEXT):
            words.append(element.text or "")
        elif element.tag == f"{DRAW}image":
            yield FlowText(text="".join(words))
            words.clear()
            yield _picture(path, element)
    yield FlowText(text="".join(words))


def _is_hidden(element: _Element) -> bool:
    return "none" in (element.get(f"{TEXT}display"), element.get(f"{DRAW}display"))


def _picture(path: Path, image: _Element) -> FlowPicture:
    frame = image.getparent()
    written = image.findtext(f"{OFFICE}binary-data")
    name = posixpath.normpath(image.get(f"{XLINK}href") or "/")
    return FlowPicture(
        load=partial(_decoded, written) if written else partial(_stored, path, name),
        description="" if frame is None else description(frame),
    )


def _stored(path: Path, name: str) -> bytes:
    if not zipfile.is_zipfile(path):
        return b""
    with open_part(path, name) as source:
        return b"" if source is None else within(iter(lambda: source.read(_CHUNK), b""))


def _decoded(content: str) -> bytes:
    if len(content) > 2 * MOST_BYTES:
        return b""
    try:
        return within((base64.b64decode(content),))
    except (binascii.Error, ValueError):
        return b""
