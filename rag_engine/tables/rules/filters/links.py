"""What leads to a mention: a negation, or a question for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rag_engine.tables.rules.interpretation import Interpretation
    from rag_engine.tables.rules.mentions.columns import ColumnMention
    from rag_engine.tables.rules.question import Sign

ASKING: Final = frozenset(
    {("groups", "per"), ("asked", "which"), ("operations", "count"), ("operations", "different")}
)


def is_asked(
    reading: Interpretation, column: ColumnMention, *, asking: frozenset[tuple[str, str]] = ASKING
) -> bool:
    return any(sign.end == column.start and (sign.group, sign.name) in asking for sign in reading.signs)


def leads_to(reading: Interpretation, sign: Sign, place: int) -> bool:
    named = {at for mention in reading.columns for at in range(mention.start, mention.end)}
    words = reading.question.words
    return sign.end <= place and all(
        at in named or reading.question.lexicon.has(words[at], "filler") for at in range(sign.end, place)
    )
