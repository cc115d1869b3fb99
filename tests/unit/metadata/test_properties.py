from __future__ import annotations

import pytest

from rag_engine.errors import UserError
from rag_engine.metadata.properties import day_of, derived, tag_of, usable


@pytest.mark.parametrize(
    ("written", "day"),
    [
        ("D:20240131120000+01'00'", "2024-01-31"),
        ("2024-01-31T12:00:00Z", "2024-01-31"),
        ("2024-01", "2024-01"),
        ("Wed, 31 Jan 2024 12:00:00 +0100", "2024-01-31"),
        ("2024-13-45", ""),
        ("yesterday", ""),
        ("", ""),
    ],
)
def test_dates_of_every_format_become_days(written: str, day: str) -> None:
    assert day_of(written) == day


def test_a_files_own_properties_get_standard_keys_and_limits() -> None:
    raw = {
        "Authors": ["Anna Li", "Bob", "Anna Li"],
        "CreationDate": ["D:20240131"],
        "Cost_Center": ["A\x0012  3"],
        "type": ["exe"],
        "tag": ["forged"],
        "subject": ["x" * 10_000],
        "": ["nameless"],
        "empty": [" "],
    }
    found = usable(raw)
    assert found["author"] == ("Anna Li", "Bob")
    assert found["created"] == ("2024-01-31",)
    assert found["cost center"] == ("A 12 3",)
    assert len(found["subject"][0]) == 200
    assert set(found) == {"author", "created", "cost center", "subject"}
    assert len(usable({f"k{number}": ["v"] for number in range(1_000)})) == 40


def test_what_follows_from_the_record() -> None:
    found = derived(
        title="Q1.XLSX", uri="file:///team/a%20b/Q1.XLSX", added=1_700_000_000, places=("money", "money", "")
    )
    assert found == {
        "name": ("Q1.XLSX",),
        "type": ("xlsx", "sheet"),
        "folder": ("/team/a b",),
        "place": ("money",),
        "added": ("2023-11-14",),
        "tag": (),
    }
    assert derived(title="notes", uri="https://[chat/p1", added=0)["type"] == ()


def test_tags() -> None:
    assert tag_of("  #very  important ") == "very important"
    for text in ("", "#", "a,b", "a\nb\x00"):
        with pytest.raises(UserError, match="without commas"):
            tag_of(text)
    with pytest.raises(UserError, match="this one has 10,000"):
        tag_of("x" * 10_000)
