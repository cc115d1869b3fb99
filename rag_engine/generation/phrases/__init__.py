"""The engine's own sentences, in the question's language or English."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from rag_engine.text.messages.message_catalog import MessageCatalog

__all__ = ["CATALOG", "Phrase", "not_found", "phrase"]

Phrase = Literal[
    "extracted",
    "not_found",
    "closest",
    "unmentioned",
    "rows_alone",
    "rows_cut",
    "table_partial",
    "differ",
    "differ_undated",
    "your_files",
    "question_cut",
    "summarized",
    "sections_joined",
    "which_file",
    "no_file",
    "unknown_file",
    "still_reading",
    "file_failed",
    "no_text",
    "documents_left_out",
    "passages_left_out",
    "parts_quoted",
    "sections_shortened",
    "unsupported_marked",
    "general_marked",
    "rewriting_needs_model",
    "rewriting_failed",
    "no_file_matches",
    "filter_left_out",
    "full_needs_model",
    "full_cut",
    "web_unavailable",
    "messages_unavailable",
    "web_switched_off",
    "tools_switched_off",
    "tools_need_model",
    "research_needs_model",
    "research_gaps",
    "computed_line",
    "computed_rows",
    "computed_more",
    "computed_unread",
    "computed_unread_words",
    "computed_empty",
    "computed_totals",
    "computed_cut",
    "uncomputed_question",
    "uncomputed_table",
    "uncomputed_chart",
    "uncomputed_choice",
    "uncomputed_missing",
    "uncomputed_available",
    "uncomputed_partner",
    "verified_question",
    "card_abbreviation",
    "card_code",
    "card_address",
    "card_term",
    "card_aliases",
    "card_related",
    "verified_by",
    "verified_changed",
    "verified_due",
]

CATALOG: Final = MessageCatalog(Path(__file__).parent)


def phrase(name: Phrase, *, language: str, **values: object) -> str:
    """Braces in values are literal, an integer `count` chooses the plural form."""
    return CATALOG.say(name, language, values)


def not_found(
    *, language: str, scope: str = "", titles: tuple[str, ...] = (), unmentioned: tuple[str, ...] = ()
) -> str:
    sentences = [
        phrase("not_found", language=language, scope=scope or phrase("your_files", language=language))
    ]
    if unmentioned:
        sentences.append(phrase("unmentioned", language=language, words=", ".join(unmentioned)))
    if titles:
        sentences.append(phrase("closest", language=language, titles="; ".join(titles)))
    return " ".join(sentences)
