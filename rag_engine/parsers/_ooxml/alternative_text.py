from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rag_engine.parsers._ooxml.package import Element

_BY_A_PROGRAM: Final = re.compile(
    r"(?:description |beschreibung )?(?:automatically generated|automatisch generiert)|AI-generated content"
    r"|KI-generierte Inhalte|Description générée automatiquement|Descripción generada automáticamente"
    r"|Descrizione generata automaticamente|Descrição gerada automaticamente|自動的に生成された|已自动生成",
    re.IGNORECASE,
)
_FILE: Final = re.compile(
    r"[^\n]{1,120}\.(?:png|jpe?g|gif|bmp|tiff?|emf|wmf|svg|webp|pdf|eps|ico)|[\w-]*[:/\\]\S+|[^\W\d]+[ _-]?\d+",
    re.IGNORECASE,
)


def alternative_text(element: Element, key: str = "descr") -> str:
    for text in (element.get(key) or "", element.get("title") or ""):
        plain = " ".join(text.split())
        if plain and not _BY_A_PROGRAM.search(plain) and not _FILE.fullmatch(plain):
            return plain
    return ""
