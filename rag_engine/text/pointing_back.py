"""Sentences that need the one before: "It takes four minutes"."""

from __future__ import annotations

import re

from rag_engine.text.lazy_pattern import lazy

_POINTS_BACK = lazy(
    lambda: re.compile(
        r"\s*(?:this|these|that|those|it|they|he|she|however|therefore|moreover|furthermore|also|but|and|so|such|dies(?:e[rs]?)?|das|er|sie|es|jedoch|"
        r"daher|außerdem|auch|aber|und|cela|ceci|ce|ces|il|elle|ils|elles|cependant|donc|mais|et|esto|este|esta|ello|sin embargo|pero|y|isto|isso|ele|ela|"
        r"mas|questo|questa|ciò|tuttavia|ma|dit|deze|het|zij|hij|echter|maar|это|он|она|они|однако|но|这|該|其|但|そして|しかし|また|これ|그|이|하지만)\b",
        re.IGNORECASE,
    )
)


def points_back(sentence: str) -> bool:
    return bool(_POINTS_BACK.match(sentence))
