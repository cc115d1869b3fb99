from __future__ import annotations

import re
from typing import Final, Literal, Protocol, TypeAlias

Fault: TypeAlias = Literal["missing", "sparse", "garbled"]
"""missing: drawn without text; sparse: a few words beside a page-filling picture; garbled: not the letters displayed.
"""


class Pictured(Protocol):
    def __call__(self, *, with_shapes: bool) -> float:
        """Share of the page; `with_shapes` also counts many drawn paths, which may be letters."""
        ...


_VISIBLE: Final = re.compile(r"[^\s\u200b-\u200f\u00ad\ufeff]")
_MEANINGLESS: Final = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff\ue000-\uf8ff\ufffd\ufffe\uffff\U000f0000-\U0010ffff]"
    r"|\(cid:\d+\)"
)
_SYMBOL_FONTS: Final = re.compile("[\uf020-\uf0ff]")
_MOST_MEANINGLESS: Final = 0.15
_MOST_SYMBOLS: Final = 0.5
_SPARSE: Final = ((0.85, 200), (0.5, 60))
_LONG: Final = 500
_LEAST_PICTURE: Final = 0.005


def fault(text: str, *, pictured: Pictured) -> Fault | None:
    """None if the text is usable or the page is empty."""
    sample = text if len(text) < 4 * _LONG else text[: 2 * _LONG] + text[-2 * _LONG :]
    words = "".join(sample.split())
    sound = words.isprintable() and "\ufffd" not in words and "(cid:" not in words
    if sound and len(words) > _LONG:
        return None
    visible = len(_VISIBLE.findall(words[:_LONG]))
    if not visible:
        return "missing" if pictured(with_shapes=True) > _LEAST_PICTURE else None
    if not sound and _garbled(text):
        return "garbled"
    if visible < _SPARSE[0][1]:
        share = pictured(with_shapes=False)
        if any(share >= least and visible < fewest for least, fewest in _SPARSE):
            return "sparse"
    return None


def _garbled(text: str) -> bool:
    bad = _MEANINGLESS.findall(text)
    if not bad:
        return False
    visible = len(_VISIBLE.findall(text))
    symbols = sum(_SYMBOL_FONTS.fullmatch(found) is not None for found in bad)
    if symbols > _MOST_SYMBOLS * visible:
        return True
    meaningless = sum(len(found) for found in bad) - symbols
    return meaningless > _MOST_MEANINGLESS * visible
