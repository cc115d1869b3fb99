from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rag_engine.parsers._ooxml.package import A, M, W, value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rag_engine.parsers._ooxml.package import Element

_ACCENTS: Final = {"\u0302": "^", "\u0303": "~", "\u0304": "¯", "\u0305": "¯", "\u0307": "˙", "\u20d7": "→"}
_LINES: Final = frozenset({f"{W}br", f"{A}br"})


def math_text(formula: Element) -> str:
    return " ".join(_content(formula).split())


def _content(element: Element) -> str:
    return "".join(map(_element_text, element))


def _element_text(element: Element) -> str:
    if element.tag in {f"{M}t", f"{W}t", f"{A}t"}:
        return element.text or ""
    if element.tag in _LINES:
        return " "
    write = _WRITERS.get(element.tag)
    if write is not None:
        return write(element)
    return _content(element)


def _child(element: Element, name: str) -> str:
    found = element.find(f"{M}{name}")
    return "" if found is None else _content(found)


def _parenthesized(text: str) -> str:
    text = text.strip()
    is_whole = text.isalnum() or len(text) == 1 or (text[:1] == "(" and text.find(")") == len(text) - 1)
    return text if is_whole else f"({text})"


def _fraction(element: Element) -> str:
    return f"{_parenthesized(_child(element, 'num'))}/{_parenthesized(_child(element, 'den'))}"


def _with_scripts(element: Element) -> str:
    text = _parenthesized(_child(element, "e"))
    below, above = _child(element, "sub"), _child(element, "sup")
    return (
        text
        + (f"_{_parenthesized(below)}" if below.strip() else "")
        + (f"^{_parenthesized(above)}" if above.strip() else "")
    )


def _prescripts(element: Element) -> str:
    below, above = _child(element, "sub"), _child(element, "sup")
    return f"_{_parenthesized(below)}^{_parenthesized(above)}{_parenthesized(_child(element, 'e'))}"


def _root(element: Element) -> str:
    degree = _child(element, "deg").strip()
    return (f"√[{degree}]" if degree else "√") + _parenthesized(_child(element, "e"))


def _large_operator(element: Element) -> str:
    sign = value(element, f"{M}naryPr/{M}chr", M)
    below, above = _child(element, "sub"), _child(element, "sup")
    limits = (f"_{_parenthesized(below)}" if below.strip() else "") + (
        f"^{_parenthesized(above)}" if above.strip() else ""
    )
    return f"{'∫' if sign is None else sign}{limits} {_child(element, 'e')}"


def _delimited(element: Element) -> str:
    properties = f"{M}dPr/{M}"
    begin, end, between = (
        value(element, f"{properties}{name}", M) for name in ("begChr", "endChr", "sepChr")
    )
    inside = ("|" if between is None else between).join(_content(part) for part in element.iterfind(f"{M}e"))
    return f"{'(' if begin is None else begin}{inside}{')' if end is None else end}"


def _function(element: Element) -> str:
    argument = _child(element, "e").strip()
    name = _child(element, "fName")
    return f"{name}{argument}" if argument.startswith("(") else f"{name} {_parenthesized(argument)}"


def _matrix(element: Element) -> str:
    rows = (", ".join(_content(cell) for cell in row.iterfind(f"{M}e")) for row in element.iterfind(f"{M}mr"))
    return f"[{'; '.join(rows)}]"


def _lines(element: Element) -> str:
    return "; ".join(_content(line) for line in element.iterfind(f"{M}e"))


def _accented(element: Element) -> str:
    sign = value(element, f"{M}accPr/{M}chr", M)
    base = _parenthesized(_child(element, "e"))
    accent = "\u0302" if sign is None else sign
    return base + accent if len(base) == 1 else f"{base}{_ACCENTS.get(accent, '')}"


def _limit(element: Element) -> str:
    sign = "_" if element.tag == f"{M}limLow" else "^"
    return f"{_child(element, 'e')}{sign}{_parenthesized(_child(element, 'lim'))}"


_WRITERS: Final[Mapping[object, Callable[[Element], str]]] = {
    f"{M}f": _fraction,
    f"{M}sSup": _with_scripts,
    f"{M}sSub": _with_scripts,
    f"{M}sSubSup": _with_scripts,
    f"{M}sPre": _prescripts,
    f"{M}rad": _root,
    f"{M}nary": _large_operator,
    f"{M}d": _delimited,
    f"{M}func": _function,
    f"{M}m": _matrix,
    f"{M}eqArr": _lines,
    f"{M}acc": _accented,
    f"{M}limLow": _limit,
    f"{M}limUpp": _limit,
    f"{W}del": lambda _: "",
    f"{W}moveFrom": lambda _: "",
}
