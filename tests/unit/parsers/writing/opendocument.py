"""OpenDocument text, slides and sheets, written by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.unit.parsers.writing.words import CHINESE, GERMAN, content_of, zip_of

if TYPE_CHECKING:
    from collections.abc import Callable

_NAMESPACES: Final = " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for prefix, name in (
        ("office", "office"),
        ("text", "text"),
        ("table", "table"),
        ("draw", "drawing"),
        ("presentation", "presentation"),
    )
)


def _table(name: str) -> str:
    rows = "".join(
        "<table:table-row>"
        + "".join(f"<table:table-cell><text:p>{cell}</text:p></table:table-cell>" for cell in row)
        + "</table:table-row>"
        for row in (("Office", "Days"), ("Köln", "30"), (CHINESE, "28"))
    )
    return f'<table:table table:name="{name}">{rows}</table:table>'


def _heading(text: str) -> str:
    return f'<text:h text:outline-level="1">{text}</text:h>'


def _box(kind: str, text: str) -> str:
    return f'<draw:frame presentation:class="{kind}"><draw:text-box><text:p>{text}</text:p></draw:text-box></draw:frame>'


def _opendocument(kind: str, body: str) -> Callable[..., None]:
    content = (
        f"<office:document-content {_NAMESPACES}><office:body><office:{kind}>{body}</office:{kind}></office:body>"
        "</office:document-content>"
    )
    media_type = f"application/vnd.oasis.opendocument.{kind}"
    return content_of(zip_of({"mimetype": media_type.encode(), "content.xml": content.encode()}))


write_odt: Final = _opendocument(
    "text",
    f"<text:p>Before any heading.</text:p>{_heading('Leave')}<text:p>{GERMAN}</text:p>"
    "<text:list><text:list-item><text:p>Call before nine.</text:p></text:list-item></text:list>"
    f"{_table('Days')}{_heading('Reports')}<text:p>{CHINESE}</text:p>",
)
write_odp: Final = _opendocument(
    "presentation",
    f"<draw:page>{_box('title', 'Kick-off')}{_box('outline', GERMAN)}"
    f"<presentation:notes>{_box('notes', 'Say it slowly.')}</presentation:notes></draw:page>"
    f"<draw:page>{_box('outline', CHINESE)}</draw:page>",
)
write_ods: Final = _opendocument("spreadsheet", _table("Leave"))
