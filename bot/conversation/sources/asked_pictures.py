from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from rag_engine.parsing.figures import is_caption

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.port import Citation

_PICTURES: Final = re.compile(
    r"\b(?:pictures?|images?|diagrams?|charts?|drawings?|photos?|illustrations?|figure \d+|fig\. ?\d+"
    r"|bild(?:er)?|abbildung(?:en)?|diagramme?|grafik(?:en)?|schaubild(?:er)?|zeichnung(?:en)?|fotos?"
    r"|schémas?|graphiques?|dessins?|imágen(?:es)?|imagen|diagramas?|gráficos?|esquemas?|dibujos?"
    r"|immagin[ei]|diagramm[ai]|grafic[oi]|schem[ai]|disegn[oi]|imagens?|imagem|desenhos?|fotografias?"
    r"|afbeelding(?:en)?|plaatjes?|tekening(?:en)?|grafieken?|рисун\w{1,3}|схем\w{1,2}|диаграмм\w{1,2}|картинк\w{1,2})\b"
    r"|図|画像|写真|グラフ|그림|도표|사진|그래프|图片|图表|示意图|插图|照片",
    re.IGNORECASE,
)


def asks_for_picture(question: str) -> bool:
    return _PICTURES.search(question) is not None


def pictured(question: str, citations: Sequence[Citation]) -> list[Citation]:
    """All, if the question asks for a picture; else those that quote a caption."""
    if asks_for_picture(question):
        return list(citations)
    return [one for one in citations if any(map(is_caption, one.quote.splitlines()))]
