"""Parts of charts, as Office and OpenDocument programs write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.unit.parsers.ooxml import part

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def _words(text: str) -> str:
    return f"<c:title><c:tx><c:rich><a:p><a:r><a:t>{text}</a:t></a:r></a:p></c:rich></c:tx></c:title>"


def cached(values: Sequence[object], code: str = "", cells: str = "", kind: str = "num") -> str:
    """Values as a chart keeps them: of `cells` in a workbook, else its own."""
    points = "".join(f'<c:pt idx="{at}"><c:v>{value}</c:v></c:pt>' for at, value in enumerate(values))
    inside = (f"<c:formatCode>{code}</c:formatCode>" if code else "") + points
    if not cells:
        return f"<c:{kind}Lit>{inside}</c:{kind}Lit>"
    return f"<c:{kind}Ref><c:f>{cells}</c:f><c:{kind}Cache>{inside}</c:{kind}Cache></c:{kind}Ref>"


def series(name: str, categories: str, values: str) -> str:
    """One of a bar or line chart."""
    named = cached([name], cells="Sheet1!$B$1", kind="str")
    return f"<c:ser><c:tx>{named}</c:tx><c:cat>{categories}</c:cat><c:val>{values}</c:val></c:ser>"


def chart_part(
    title: str | None, *inside: str, axes: Mapping[str, str] | None = None, kind: str = "barChart"
) -> str:
    """`axes`: titles and further elements of catAx and valAx; a title of None is the automatic one."""
    named, listed = "", ""
    for at, (axis, text) in enumerate((axes or {}).items()):
        words, _, more = text.partition("<")
        listed += f'<c:axId val="{at}"/>'
        named += f'<c:{axis}><c:axId val="{at}"/>{_words(words)}{more and "<"}{more}</c:{axis}>'
    heading = "<c:title/>" if title is None else _words(title)
    plot = f"<c:plotArea><c:{kind}>{''.join(inside)}{listed}</c:{kind}>{named}</c:plotArea>"
    return part("c:chartSpace", f"<c:chart>{heading}{plot}</c:chart>")
