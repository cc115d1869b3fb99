"""Within a page of a PDF, with captions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeAlias

from rag_engine.text.lazy_pattern import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Box: TypeAlias = tuple[float, float, float, float]

_SMALLEST: Final = 0.01
_SMALLEST_DRAWING: Final = 0.02
_LARGEST: Final = 0.85
_GAP: Final = 48.0
_PADDING: Final = 4.0
_CAPTION: Final = lazy(
    lambda: re.compile(
        r"\s*(?:fig(?:ure|ura)?|abb(?:ildung)?|bild|image|imagen|immagine|photo|foto|chart|diagram|grafik|gráfico|schema|рис(?:унок)?"
        r"|图|圖|図)\.?\s*\d",
        re.IGNORECASE,
    )
)


def is_caption(text: str) -> bool:
    return _CAPTION.match(text) is not None


def figure(
    page: Box,
    images: Sequence[Box],
    lines: Sequence[tuple[str, Box]],
    quoted: Sequence[Box],
    drawings: Sequence[Box] = (),
) -> Box | None:
    """Of a quoted caption, else the only one. A drawing needs a caption, because tables are drawn, too."""
    captions = [(text, box) for text, box in lines if is_caption(text)]
    whole = max(_area(page), 1.0)
    fitting = [one for one in images if _SMALLEST <= _area(one) / whole <= _LARGEST]
    fitting += [
        one
        for one in drawings
        if _SMALLEST_DRAWING <= _area(one) / whole <= _LARGEST
        and not any(_covers(one, image) for image in fitting)
        and any(_is_beside(one, caption) for _, caption in captions)
    ]
    said = [box for _, box in captions if any(_covers(box, one) for one in quoted)]
    near = [(one, caption) for caption in said for one in fitting if _is_beside(one, caption)]
    if near:
        image, caption = min(near, key=lambda pair: _distance(*pair))
    elif len(fitting) == 1:
        image = fitting[0]
        caption = next((box for _, box in captions if _is_beside(image, box)), image)
    else:
        return None
    return _around(image, caption, *_continued(caption, lines) if caption is not image else ())


def _continued(caption: Box, lines: Sequence[tuple[str, Box]]) -> Iterator[Box]:
    last = caption
    for _, box in sorted(lines, key=lambda line: line[1][1]):
        height = last[3] - last[1]
        if 0 < box[1] - last[1] <= 1.6 * height and abs(box[0] - caption[0]) <= 2 * height:
            last = box
            yield box


def _around(*boxes: Box) -> Box:
    left, top, right, bottom = zip(*boxes, strict=True)
    return min(left) - _PADDING, min(top) - _PADDING, max(right) + _PADDING, max(bottom) + _PADDING


def _is_beside(image: Box, caption: Box) -> bool:
    return _distance(image, caption) <= _GAP and caption[0] < image[2] and caption[2] > image[0]


def _distance(image: Box, caption: Box) -> float:
    return max(caption[1] - image[3], image[1] - caption[3], 0.0)


def _covers(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _area(box: Box) -> float:
    return max(box[2] - box[0], 0.0) * max(box[3] - box[1], 0.0)
