from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from lxml import etree

if TYPE_CHECKING:
    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

LARGEST: Final = 48 << 20
"""Characters; a larger tree exceeds a worker's memory."""
_WRAPPERS: Final = re.compile(
    r"</?(?:div|span|font|b|i|u|em|strong|center|section|blockquote)\b[^<>]*+>", re.I
)
_ENDS: Final = re.compile(r"</(?:body|html)\s*>", re.IGNORECASE)


def page_tree(source: str) -> _Element | None:
    source = source.replace("&shy;", "").replace("\u00ad", "")
    # lxml stops at the first closing tag; some files hold several pages.
    source = _ENDS.sub(" ", source)
    for attempt in (source, None):
        text = _WRAPPERS.sub(" ", source) if attempt is None else attempt
        parser = etree.HTMLParser(
            encoding="utf-8", remove_comments=True, remove_pis=True, no_network=True, huge_tree=True
        )
        try:
            root = etree.fromstring(text.encode("utf-8", errors="replace"), parser)
        except etree.XMLSyntaxError:
            return None
        if root is None:  # pyright: ignore[reportUnnecessaryComparison] - lxml does so for a page of blanks
            return None
        if not any("depth" in entry.message for entry in parser.error_log):
            return root
    return None
