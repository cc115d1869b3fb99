from __future__ import annotations

import pytest

from rag_engine.text.messages import LANGUAGES
from rag_engine.text.messages.message_catalog import places
from rag_engine.text.place_names import CATALOG, place_in_language


@pytest.mark.parametrize(
    ("anchor", "language", "expected"),
    [
        ("p. 3", "de", "S. 3"),
        ("p. 3", "en", "p. 3"),
        ("p. xii", "zh", "第 xii 页"),
        ("p. 3–4", "ko", "3–4쪽"),
        ("lines 1–30", "de", "Zeilen 1–30"),
        ("slide 2, notes", "fr", "diapositive 2, notes"),
        ("slide 2, comment 1", "es", "diapositiva 2, comentario 1"),
        ("trip.zip › 2025.pdf › p. 3", "ru", "trip.zip › 2025.pdf › с. 3"),
        ("message 3 › budget.xlsx › Budget!A2:D4", "nl", "bericht 3 › budget.xlsx › Budget!A2:D4"),
        ("in/notice.png › picture", "ja", "in/notice.png › 画像"),
        ("footnote 3", "it", "nota a piè di pagina 3"),
        ("row 7", "pt", "linha 7"),
        ("p. 3", "tlh", "p. 3"),
        ("", "de", ""),
    ],
)
def test_places_are_named_in_the_language_of_the_reply(anchor: str, language: str, expected: str) -> None:
    assert place_in_language(anchor, language) == expected


@pytest.mark.parametrize(
    "anchor", ["§ notes and picture", "Budget!A2:D40", "line manager.pdf", "00:01:02", "p. {number}"]
)
def test_names_of_files_sheets_and_sections_stay(anchor: str) -> None:
    assert place_in_language(anchor, "de") == anchor


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_every_language_has_every_place(language: str) -> None:
    here, english = CATALOG.sentences(language), CATALOG.sentences("en")
    assert here.keys() == english.keys()
    assert {name: places(sentence) for name, sentence in here.items()} == {
        name: places(sentence) for name, sentence in english.items()
    }
    assert language == "en" or here != english
