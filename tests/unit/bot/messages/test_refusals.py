"""Refusals repeat what a person typed, and not a book of it."""

from __future__ import annotations

from bot.messages.refusals import Invalid


def test_what_is_repeated_is_cut() -> None:
    refusal = Invalid("no_such_base_yet", name="y" * 3_000)
    for language in ("en", "de"):
        assert f"{'y' * 400}…" in refusal.in_language(language)
        assert len(refusal.in_language(language)) < 600
    assert "y" * 401 not in str(refusal)
