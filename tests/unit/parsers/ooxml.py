"""Word and PowerPoint files written by hand, part by part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.unit.parsers.files import zip_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_FORMATS: Final = "http://schemas.openxmlformats.org"
_RELATIONS: Final = f"{_FORMATS}/officeDocument/2006/relationships"
NAMESPACES: Final = " ".join(
    f'xmlns:{prefix}="{uri}"'
    for prefix, uri in {
        "w": f"{_FORMATS}/wordprocessingml/2006/main",
        "p": f"{_FORMATS}/presentationml/2006/main",
        "a": f"{_FORMATS}/drawingml/2006/main",
        "c": f"{_FORMATS}/drawingml/2006/chart",
        "dgm": f"{_FORMATS}/drawingml/2006/diagram",
        "wp": f"{_FORMATS}/drawingml/2006/wordprocessingDrawing",
        "m": f"{_FORMATS}/officeDocument/2006/math",
        "r": _RELATIONS,
        "mc": f"{_FORMATS}/markup-compatibility/2006",
        "v": "urn:schemas-microsoft-com:vml",
        "o": "urn:schemas-microsoft-com:office:office",
        "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
        "w14": "http://schemas.microsoft.com/office/word/2010/wordml",
        "w15": "http://schemas.microsoft.com/office/word/2012/wordml",
        "p14": "http://schemas.microsoft.com/office/powerpoint/2010/main",
        "p15": "http://schemas.microsoft.com/office/powerpoint/2012/main",
        "p188": "http://schemas.microsoft.com/office/powerpoint/2018/8/main",
        "a14": "http://schemas.microsoft.com/office/drawing/2010/main",
        "cx": "http://schemas.microsoft.com/office/drawing/2014/chartex",
    }.items()
)


def part(root: str, inside: str, attributes: str = "") -> str:
    """A part with the root element `root` and all namespaces."""
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<{root} {NAMESPACES} {attributes}>{inside}</{root}>'


def relations(targets: Mapping[str, tuple[str, str]]) -> str:
    """A relationships part: id -> (last segment of the type, target)."""
    inside = "".join(
        f'<Relationship Id="{identifier}" Type="{_RELATIONS}/{kind}" Target="{target}"/>'
        for identifier, (kind, target) in targets.items()
    )
    return f'<Relationships xmlns="{_FORMATS}/package/2006/relationships">{inside}</Relationships>'


def write_parts(path: Path, parts: Mapping[str, str | bytes], main: str) -> None:
    """Write a package of these parts; `main` is the main part."""
    members = {
        "[Content_Types].xml": f'<Types xmlns="{_FORMATS}/package/2006/content-types"/>',
        "_rels/.rels": relations({"rId1": ("officeDocument", main)}),
        **parts,
    }
    path.write_bytes(
        zip_of({name: text.encode() if isinstance(text, str) else text for name, text in members.items()})
    )


def write_word(path: Path, body: str, **parts: str) -> None:
    """Write a Word file; `parts` are styles, numbering, footnotes etc. by relationship type."""
    links = {kind: (kind, f"{kind}.xml") for kind in parts}
    write_parts(
        path,
        {
            "word/document.xml": part("w:document", f"<w:body>{body}</w:body>"),
            "word/_rels/document.xml.rels": relations(links),
            **{f"word/{kind}.xml": text for kind, text in parts.items()},
        },
        "word/document.xml",
    )


def paragraph(text: str, style: str = "", properties: str = "") -> str:
    """A paragraph of Word."""
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f"<w:p><w:pPr>{named}{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def style(identifier: str, name: str, inside: str = "", *, kind: str = "paragraph") -> str:
    """A style of Word."""
    return f'<w:style w:type="{kind}" w:styleId="{identifier}"><w:name w:val="{name}"/>{inside}</w:style>'


def write_slides(
    path: Path, slides: list[str], parts: Mapping[str, str] | None = None, more: str = ""
) -> None:
    """Write a PowerPoint file; `parts` by name, `more` is added to the presentation part."""
    listed = "".join(f'<p:sldId id="{256 + at}" r:id="s{at}"/>' for at in range(len(slides)))
    members = {f"ppt/slides/slide{at}.xml": text for at, text in enumerate(slides)}
    links = {f"s{at}": ("slide", f"slides/slide{at}.xml") for at in range(len(slides))}
    write_parts(
        path,
        {
            "ppt/presentation.xml": part("p:presentation", f"<p:sldIdLst>{listed}</p:sldIdLst>{more}"),
            "ppt/_rels/presentation.xml.rels": relations(links),
            **members,
            **(parts or {}),
        },
        "ppt/presentation.xml",
    )


def slide(*shapes: str, attributes: str = "") -> str:
    """A slide's part."""
    return part("p:sld", f"<p:cSld><p:spTree>{''.join(shapes)}</p:spTree></p:cSld>", attributes)


def box(text: str, place: tuple[int, int, int, int] | None = None, placeholder: str = "") -> str:
    """A shape with one line per line of `text`; `place` is left, top, width, height."""
    frame = ""
    if place is not None:
        left, top, width, height = place
        frame = f'<a:xfrm><a:off x="{left}" y="{top}"/><a:ext cx="{width}" cy="{height}"/></a:xfrm>'
    role = f"<p:ph {placeholder}/>" if placeholder else ""
    lines = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in text.splitlines())
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="1" name="x"/><p:nvPr>{role}</p:nvPr></p:nvSpPr><p:spPr>{frame}</p:spPr>'
        f"<p:txBody>{lines}</p:txBody></p:sp>"
    )
