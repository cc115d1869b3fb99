"""Pictures of HTML pages, web archives and EPUB books; never of an address."""

from __future__ import annotations

import base64
import binascii
import email
import email.policy
import posixpath
import zipfile
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, unquote_to_bytes

from lxml import etree

from rag_engine.parsers._archives.zip_bombs import check_archive
from rag_engine.parsers._figures.flow import FlowItem, FlowPicture, FlowText
from rag_engine.parsers._figures.limits import MOST_BYTES, within
from rag_engine.parsers._shared.encoding import markup_encoding
from rag_engine.parsers._xml.parts import XmlPackage
from rag_engine.parsers.documents._epub.chapter_tree import chapter_tree
from rag_engine.parsers.documents._epub.package import chapters
from rag_engine.parsers.texts._html.hidden_elements import Strictness, is_unseen
from rag_engine.parsers.texts._html.page_tree import LARGEST, page_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from email.message import EmailMessage
    from pathlib import Path

    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

    LoadPicture = Callable[[str], Callable[[], bytes] | None]

_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_BLOCKS: Final = frozenset(
    {"p", "div", "li", "td", "th", "figure", "figcaption", "section", "br", *_HEADINGS}
)
_DATA: Final = "data:image/"
_CHUNK: Final = 1 << 20


@contextmanager
def page(path: Path, _: str) -> Generator[Iterator[FlowItem]]:
    with path.open("rb") as file:
        source = file.read(LARGEST).decode(markup_encoding(path), errors="replace")
    yield _flow(page_tree(source), _written)


@contextmanager
def web_archive(path: Path, _: str) -> Generator[Iterator[FlowItem]]:
    yield _archived(path)


@contextmanager
def book(path: Path, _: str) -> Generator[Iterator[FlowItem]]:
    check_archive(path)
    with path.open("rb") as file:
        yield _chapters(XmlPackage(file), zipfile.ZipFile(file).namelist())


def _archived(path: Path) -> Iterator[FlowItem]:
    with path.open("rb") as file:
        message = email.message_from_binary_file(file, policy=email.policy.default)
    parts = [part for part in message.walk() if not part.is_multipart()]
    pictures: dict[str, Callable[[], bytes]] = {}
    for part in parts:
        if part.get_content_maintype() == "image":
            load = partial(_part_picture, part)
            pictures[f"cid:{str(part['content-id'] or '').strip(' <>')}"] = load
            pictures[str(part["content-location"] or "").strip()] = load
    pictures.pop("", None)
    for part in parts:
        if part.get_content_type() in ("text/html", "application/xhtml+xml"):
            source = _part_content(part)[:LARGEST].decode(part.get_content_charset("utf-8"), errors="replace")
            yield from _flow(page_tree(source), lambda address: pictures.get(address) or _written(address))


def _chapters(package: XmlPackage, names: list[str]) -> Iterator[FlowItem]:
    for chapter in chapters(package, names):
        if package.has(chapter.name):
            yield FlowText(text="", begins=True)
            root = chapter_tree(package, chapter.name)
            yield from _flow(root, partial(_member, package, posixpath.dirname(chapter.name)))


def _flow(root: _Element | None, load: LoadPicture) -> Iterator[FlowItem]:
    if root is None:
        return
    words: list[str] = []
    walked = etree.iterwalk(root, events=("start", "end"))
    for event, element in walked:
        tag = element.tag if isinstance(element.tag, str) else ""
        if event == "end":
            if tag in _BLOCKS:
                yield FlowText(text="".join(words))
                words.clear()
            words.append(element.tail or "")
            continue
        if not tag or is_unseen(element, tag, Strictness.HIDDEN):
            walked.skip_subtree()
            continue
        if tag in _BLOCKS:
            yield FlowText(text="".join(words))
            yield FlowText(text="", begins=tag in _HEADINGS)
            words.clear()
        words.append(element.text or "")
        if (picture := _picture(element, tag, load)) is not None:
            yield FlowText(text="".join(words))
            words.clear()
            yield picture
    yield FlowText(text="".join(words))


def _picture(element: _Element, tag: str, load: LoadPicture) -> FlowPicture | None:
    if tag not in ("img", "image"):
        return None
    linked = (value for name, value in element.attrib.items() if str(name).endswith("href"))
    found = load((element.get("src") or next(linked, "")).strip())
    return None if found is None else FlowPicture(load=found, description=element.get("alt") or "")


def _written(address: str) -> Callable[[], bytes] | None:
    return partial(_decoded, address) if address[: len(_DATA)].lower() == _DATA else None


def _decoded(address: str) -> bytes:
    described, _, content = address.partition(",")
    if len(content) > 2 * MOST_BYTES:
        return b""
    if not described.lower().endswith(";base64"):
        return within((unquote_to_bytes(content),))
    try:
        return within((base64.b64decode("".join(unquote(content).split())),))
    except (binascii.Error, ValueError):
        return b""


def _part_picture(part: EmailMessage) -> bytes:
    return within((_part_content(part),)) if len(part.get_payload()) <= 2 * MOST_BYTES else b""


def _part_content(part: EmailMessage) -> bytes:
    content = part.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""


def _member(package: XmlPackage, folder: str, address: str) -> Callable[[], bytes] | None:
    if address[: len(_DATA)].lower() == _DATA:
        return _written(address)
    name = posixpath.normpath(posixpath.join("/", folder, unquote(address.partition("#")[0]))).lstrip("/")
    return partial(_stored, package, name) if address and package.has(name) else None


def _stored(package: XmlPackage, name: str) -> bytes:
    with package.open(name) as stream:
        return within(iter(lambda: stream.read(_CHUNK), b""))
