from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Final, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict

from rag_engine.retrieval.queries.query_variants import is_same
from rag_engine.text.analyzer import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rag_engine.types import Ranking

FEWEST_WORDS: Final = 20
_MOST_WORDS: Final = 400
_COMPARED: Final = 10
_WEIGHT: Final = 0.7
_LEAST_WEIGHT: Final = 0.2
_ABOUT_THE_TASK: Final = re.compile(
    r"\W*(?:as an ai\b|i (?:can(?:no|')t|am|do not|don't)\b|i'm\b|sure\b|here (?:is|are)\b|question:|passage:|hypothetical)",
    re.IGNORECASE,
)


def _texts(value: object) -> object:
    listed = cast("list[object]", value if isinstance(value, list) else [value])
    return [text for text in listed if isinstance(text, str)]


class HypothesisReply(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    passages: Annotated[list[str], BeforeValidator(_texts)]


def usable(passages: Iterable[str], question: str, *, most: int) -> tuple[str, ...]:
    """20 to 400 words, not the question, not about the task."""
    found = dict.fromkeys(" ".join(passage.split()) for passage in passages)
    return tuple(text for text in found if _is_usable(text, question))[:most]


def _is_usable(text: str, question: str) -> bool:
    if is_same(text, question) or _ABOUT_THE_TASK.match(text):
        return False
    length = sum(
        1 if word.isascii() or len(word) < 4 else len(word) // 2 for word, _ in words(text, language="")
    )
    return FEWEST_WORDS <= length <= _MOST_WORDS


def agreement(made_up: Ranking, rankings: Sequence[Ranking]) -> float:
    """The share of its first hits that the question's search found."""
    own = [ranking for ranking in rankings if not ranking.query and not ranking.is_hypothetical]
    plain = next((ranking for ranking in own if ranking.leg == "dense"), own[0] if own else None)
    if plain is None or not made_up.hits:
        return 0.0
    first = {hit.chunk.id for hit in made_up.hits[:_COMPARED]}
    return len(first & {hit.chunk.id for hit in plain.hits[:_COMPARED]}) / len(first)


def weight(agreeing: float, *, of: int) -> float:
    return _WEIGHT * min(1.0, _LEAST_WEIGHT + agreeing) / of
