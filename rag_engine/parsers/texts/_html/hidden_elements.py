from __future__ import annotations

import re
from enum import IntEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]


class Strictness(IntEnum):
    CODE = 0
    HIDDEN = 1
    BOILERPLATE = 2


_CODE: Final = frozenset({"head", "script", "style", "template", "object", "canvas", "audio", "video", "map"})
_NOT_SHOWN: Final = frozenset({"noscript", "svg", "iframe", "select", "datalist", "dialog", "button", "rp"})
_HIDDEN: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden|mso-hide\s*:\s*all", re.IGNORECASE)
_NO_SIZE: Final = re.compile(
    r"font-size\s*+:\s*+(?:0*(?:\.0*)?(?:px|pt|r?em|%)?|0*1?(?:\.\d+)?(?:px|pt))\s*+(?:!|;|$)", re.IGNORECASE
)
_BANNER: Final = re.compile(
    r"cookie[-_]?(?:banner|consent|notice|bar|law|popup|modal|policy-banner|wall|message|overlay|dialog)"
    r"|cookies?(?:$|[-_]?(?:banner|info|hinweis))|(?:consent|gdpr|ccpa|dsgvo)(?:$|[-_]?(?:banner|popup|modal|manager|dialog|bar|overlay|tool))"
    r"|onetrust|cookiebot|didomi|usercentrics|cmpbox|qc-cmp|truste"
    r"|adsbygoogle|advert(?:isement|ising|s)?(?:$|[-_])|(?:^|[-_])ads?(?:$|[-_](?:banner|slot|container|wrapper|unit|box|top|bottom|sidebar|block|space))|ad[-_]?(?:banner|slot|container|wrapper)|google[-_]?ads?|sponsored"
    r"|newsletter[-_]?(?:popup|modal)|mw-editsection|mw-jump-link|printfooter|noprint-ad",
    re.IGNORECASE,
)
_MENU: Final = re.compile(
    r"(?:^|[-_])(?:nav|navbar|navigation|navi|menu|mainmenu|topmenu|submenu|breadcrumbs?|pagination|pager|skip-?links?|share|sharing|social|socials)(?:$|[-_])"
    r"|sitenav|sidenav|topnav|navmenu|menubar|sharedaddy|addtoany|site-header-links",
    re.IGNORECASE,
)
_DECORATION: Final = frozenset(
    {"headerlink", "anchor-link", "hash-link", "linenos", "lineno", "blob-num", "katex-html"}
    | {"line-numbers-rows"}
)
_LONGEST_BANNER: Final = 3_000
_SHARE_OF_LINKS: Final = 0.7


def is_unseen(element: _Element, tag: str, strictness: Strictness) -> bool:
    if tag in _CODE:
        return True
    if strictness == Strictness.CODE:
        return False
    if tag in _NOT_SHOWN or _is_hidden(element):
        return True
    return strictness == Strictness.BOILERPLATE and (tag == "nav" or _is_boilerplate(element, tag))


def _is_hidden(element: _Element) -> bool:
    attributes = element.attrib
    if not attributes:
        return False
    if "hidden" in attributes and attributes["hidden"] != "until-found":
        return True
    style = attributes.get("style")
    return style is not None and _HIDDEN.search(style) is not None


def has_no_size(element: _Element) -> bool:
    style = element.attrib.get("style") if element.attrib else None
    if style is None or _NO_SIZE.search(style) is None:
        return False
    return not any(
        one.tag == "font" or one.get("class") or "font" in (one.get("style") or "").lower()
        for one in element.iterdescendants()
    )


def _is_boilerplate(element: _Element, tag: str) -> bool:
    attributes = element.attrib
    if not attributes or tag in {"body", "html", "main", "article"}:
        return False
    if attributes.get("role") == "navigation":
        return True
    names = [*(attributes.get("class") or "").split(), *(attributes.get("id") or "").split()]
    if not names:
        return False
    if not _DECORATION.isdisjoint(names):
        return True
    if any(_BANNER.search(name) for name in names):
        return _text_size(element) <= _LONGEST_BANNER
    return any(_MENU.search(name) for name in names) and _is_of_links(element)


def _text_size(element: _Element) -> int:
    size = 0
    for text in element.itertext():
        size += len(text.strip())
        if size > _LONGEST_BANNER:
            break
    return size


def _is_of_links(element: _Element) -> bool:
    words = sum(len(text.strip()) for text in element.itertext())
    linked = sum(len(text.strip()) for link in element.iter("a", "button") for text in link.itertext())
    return words > 0 and linked >= words * _SHARE_OF_LINKS
