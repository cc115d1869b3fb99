from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

ROOTS: Final = frozenset(
    {"article", "book", "chapter", "section", "part", "set", "refentry", "appendix", "topic", "concept"}
    | {"task"}
    | {"reference", "dita", "glossentry", "TEI", "TEI.2", "teiCorpus", "FictionBook", "troubleshooting"}
)

_SECTIONS: Final = frozenset(
    {"article", "book", "chapter", "section", "part", "set", "refentry", "appendix", "topic", "concept"}
    | {"task"}
    | {"reference", "glossary", "preface", "bibliography", "sect1", "sect2", "sect3", "sect4", "sect5", "sec"}
    | {"simplesect", "refsect1", "refsect2", "refsection", "div", "div1", "div2", "div3", "div4", "example"}
    | {"abstract", "ack", "app", "ref-list", "troubleshooting", "glossdiv", "dedication"}
)
_BELONGS_ABOVE: Final = frozenset(
    {"info", "articleinfo", "bookinfo", "chapterinfo", "sectioninfo", "title-group", "article-meta", "front"}
    | {"title-info", "description", "prolog", "titleStmt", "fileDesc", "teiHeader"}
)
_TITLES: Final = frozenset({"title", "head", "article-title", "book-title"})
_NAMES: Final = {
    **dict.fromkeys(("p", "para", "simpara", "shortdesc", "ab", "subtitle"), "p"),
    **dict.fromkeys(("itemizedlist", "list", "ul", "simplelist", "sl", "listBibl", "ref-list"), "ul"),
    **dict.fromkeys(("orderedlist", "procedure", "steps", "ol", "substeps"), "ol"),
    **dict.fromkeys(
        ("listitem", "list-item", "item", "li", "step", "sli", "member", "substep", "ref", "bibl"), "li"
    ),
    **dict.fromkeys(
        ("programlisting", "screen", "literallayout", "codeblock", "pre", "preformat", "eg"), "pre"
    ),
    **dict.fromkeys(("informaltable", "table", "simpletable"), "table"),
    **dict.fromkeys(("row", "tr", "strow", "sthead"), "tr"),
    **dict.fromkeys(("entry", "td", "stentry", "cell"), "td"),
    **dict.fromkeys(("variablelist", "dl", "def-list", "glosslist", "parml"), "dl"),
    **dict.fromkeys(("term", "dt", "glossterm", "pt"), "dt"),
    **dict.fromkeys(("def", "dd", "glossdef", "pd"), "dd"),
    **dict.fromkeys(("blockquote", "disp-quote", "lq", "cit"), "blockquote"),
    **{name: name for name in ("th", "thead", "tbody", "tfoot", "caption", "br", "a")},
}
_ADMONITIONS: Final = frozenset({"note", "tip", "warning", "important", "caution", "danger"})
_UNSEEN: Final = frozenset(
    {"journal-meta", "binary", "indexterm", "mathml", "tex-math", "object-id", "article-id", "permissions"}
    | {"counts", "graphic", "inline-graphic", "media", "journal-id", "issn", "encodingDesc", "history"}
    | {"article-categories", "contrib-id", "self-uri", "elocation-id"}
)
_MOST_VALUES: Final = 20


def to_html(root: _Element) -> _Element:
    """An unknown element becomes a block, or inline inside text."""
    depths = {root: 1}
    records: dict[_Element, bool] = {}
    renamed: list[tuple[_Element, str]] = []
    for element in root.iter():
        parent = element.getparent()
        name = _local(element)
        depth = depths.get(parent, 1) if parent is not None else 1
        if parent is not None:
            depths[element] = depth + (name in _SECTIONS)
        html_name = _html_name(element, name, parent, depth)
        if html_name == "div" and parent is not None:
            if parent not in records:
                records[parent] = _is_record(parent)
            html_name = "span" if records[parent] else html_name
        renamed.append((element, html_name))
    for element, _ in renamed:
        if isinstance(element.tag, str):
            _apart(element)
    for element, name in renamed:
        if isinstance(element.tag, str):
            element.tag = name
    return root


def _html_name(element: _Element, name: str, parent: _Element | None, depth: int) -> str:
    if parent is None:
        return "body"
    above = _local(parent)
    if name in _TITLES:
        return _title(parent, above, name, depth)
    if name in _UNSEEN:
        return "template"
    if name in _ADMONITIONS:
        element.text = f"{name.capitalize()}: {element.text or ''}"
        return "div"
    if _is_inline(element, parent):
        return "span"
    if name in {"code", "term", "item", "label", "ref", "def", "list", "cell", "row"} and above == "p":
        return "span"
    return _NAMES.get(name, "div")


def _title(parent: _Element, above: str, name: str, depth: int) -> str:
    if above in _BELONGS_ABOVE:
        return "h1" if depth <= 2 else f"h{min(depth - 1, 6)}"
    if above in _SECTIONS:
        return f"h{min(max(depth, 1), 6)}"
    return "span" if name == "article-title" or (parent.text or "").strip() else "p"


def _is_inline(element: _Element, parent: _Element) -> bool:
    if (parent.text or "").strip() or (element.tail or "").strip():
        return True
    before = element.getprevious()
    return before is not None and bool((before.tail or "").strip())


def _is_record(element: _Element) -> bool:
    return len(element) <= _MOST_VALUES and not any(
        len(child) or _local(child) in _NAMES or _local(child) in _TITLES for child in element
    )


def _apart(element: _Element) -> None:
    if (
        len(element)
        and not (element.text or "").strip()
        and not any((child.tail or "").strip() for child in element)
    ):
        for child in element:
            child.tail = f"{child.tail or ''} "


def _local(element: _Element) -> str:
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""
