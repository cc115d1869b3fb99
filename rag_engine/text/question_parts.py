from __future__ import annotations

import re

from rag_engine.text.lazy_pattern import lazy

_ASKING = (
    r"who|whom|whose|what|when|where|why|which|how"
    r"|wer|wem|wen|wessen|was|wann|wo|wohin|warum|wieso|welche[rsmn]?|wie"
    r"|qui|que|quoi|quand|où|pourquoi|combien|comment|quel(?:le)?s?"
    r"|quién(?:es)?|qué|cuándo|dónde|cuánt[oa]s?|cómo|cuál(?:es)?|por qué"
    r"|chi|cosa|quando|dove|perché|quant[oaie]|come|quali?"
    r"|wie|wat|waar|wanneer|waarom|hoe|welke?"
    r"|quem|onde|quant[oa]s?|como|qual|quais"
)
_JOINT = lazy(
    lambda: re.compile(
        rf"(?:(?<=[?？])\s*|[,;，；]?(?<!\s)\s+(?:and|und|et|y|e|ed|en)\s+(?=(?:(?:by|until|since|from|to|bis|seit|ab|von|für|jusqu'à|hasta|for)\s+)?(?:{_ASKING})\b)"
        r"|[，、；](?=(?:由谁|谁|什么|何时|哪|怎么|为什么|多少|如何)))",
        re.IGNORECASE,
    )
)
_MOST = 3


def parts(question: str) -> tuple[str, ...]:
    found = tuple(part.strip() for part in _JOINT.split(question) if part.strip())
    return found if 1 < len(found) <= _MOST else (question,)
