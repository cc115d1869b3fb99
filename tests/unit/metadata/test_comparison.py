from __future__ import annotations

import pytest

from rag_engine.metadata.comparison import meets, span
from rag_engine.metadata.conditions import filter_of


@pytest.mark.parametrize(
    ("text", "met"),
    [
        ("year = 2024", True),
        ("year = 2024.0", True),
        ("year > 999", True),
        ("year < 999", False),
        ("created = 2024-03-01", True),
        ("created:2024", True),
        ("created:2024-03", True),
        ("created > 2024-02-29", True),
        ("created > 2024-03", False),
        ("created ≥ 2024-03-01", True),
        ("created ≤ 2024-02", False),
        ("title > 2024-01-01", False),
        ("author = 'anna LI'", True),
        ("author contains anna", True),
        ("author contains bob", True),
        ("author in (Carl, Bob)", True),
        ("author in (Bo)", False),
        ("author not in (Carl)", True),
        ("author ≠ bob", False),
        ("author starts with an", True),
        ("author ends with li", True),
        ("missing ≠ x", True),
        ("missing not contains x", True),
        ("missing not in (x)", True),
        ("missing = x", False),
        ("missing empty", True),
        ("author not empty", True),
        ("missing > 3", False),
        ("after:2024-03-01", True),
        ("before:2024-03-01", False),
        ("year:1999 or author:bob", True),
        ("year:2024 and author:carl", False),
    ],
)
def test_a_condition_compares_numbers_then_dates_then_text(text: str, *, met: bool) -> None:
    properties = {
        "year": ("2024",),
        "created": ("2024-03-01",),
        "title": ("Budget",),
        "author": ("Anna  Li", "Bob"),
    }
    assert meets(properties, filter_of(text)) is met


def test_the_day_of_a_document_is_that_of_its_last_change() -> None:
    changed = {"modified": ("2025-02-01",), "created": ("2020-01-01",), "added": ("2026-01-01",)}
    assert meets(changed, filter_of("after:2025 before:2026"))
    assert meets({"added": ("2026-01-01",)}, filter_of("after:2026"))


def test_in_means_a_file_a_folder_or_a_place() -> None:
    properties = {"name": ("Budget 2024.pdf",), "folder": ("/shared/money",), "place": ("general",)}
    for text in ("'budget 2024.pdf'", "'Budget 2024'", "/shared/money", "general"):
        assert meets(properties, filter_of(f"in:{text}"))
    assert not meets(properties, filter_of("in:budget"))


def test_spans_of_days() -> None:
    assert span("2024") == ("2024-01-01", "2025-01-01")
    assert span("2024-12") == ("2024-12-01", "2025-01-01")
    assert span("2024-02-29T10:00:00Z") == ("2024-02-29", "2024-03-01")
    assert [span(text) for text in ("2023-02-29", "24", "0000", "9999", "soon")] == [None] * 5
