from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

import pytest

from rag_engine.text.messages.message_catalog import MessageCatalog, places, plural_form, plural_forms

if TYPE_CHECKING:
    from pathlib import Path

CATALOG = """\
[greetings]
hello = "Hello {name}"
[counts]
files = { one = "1 file of {name}", other = "{count} files of {name}" }
"""


@pytest.fixture
def catalog(tmp_path: Path) -> MessageCatalog:
    (tmp_path / "en.toml").write_text(CATALOG, encoding="utf-8")
    (tmp_path / "de.toml").write_text(
        '[all]\nhello = "Hallo {name}"\nfiles = { one = "1 Datei", other = "{count} Dateien" }\n',
        encoding="utf-8",
    )
    return MessageCatalog(tmp_path)


def test_a_count_chooses_the_plural_form_and_is_grouped_as_in_the_language(catalog: MessageCatalog) -> None:
    assert catalog.say("files", "en", {"count": 1, "name": "A"}) == "1 file of A"
    assert catalog.say("files", "en", {"count": 1234, "name": "A"}) == "1,234 files of A"
    assert catalog.say("files", "de", {"count": 1234}) == "1.234 Dateien"


def test_values_are_not_read_as_places_and_a_missing_value_is_an_error(catalog: MessageCatalog) -> None:
    assert catalog.say("hello", "de", {"name": "{count}"}) == "Hallo {count}"
    with pytest.raises(KeyError, match="name"):
        catalog.say("hello", "de", {})


def test_a_language_without_a_file_reads_english(catalog: MessageCatalog) -> None:
    assert catalog.say("hello", "xx", {"name": "A"}) == "Hello A"
    assert catalog.say("hello", "../de", {"name": "A"}) == "Hello A"


def test_a_language_is_read_when_it_is_first_needed(tmp_path: Path, catalog: MessageCatalog) -> None:
    (tmp_path / "fr.toml").write_text("this is not TOML", encoding="utf-8")
    assert catalog.say("hello", "de", {"name": "A"}) == "Hallo A"
    with pytest.raises(tomllib.TOMLDecodeError):
        catalog.say("hello", "fr", {"name": "A"})


def test_a_name_that_occurs_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "en.toml").write_text('[a]\nx = "1"\n[b]\nx = "2"\n', encoding="utf-8")
    with pytest.raises(ValueError, match="'x' occurs twice"):
        MessageCatalog(tmp_path).sentences("en")


def test_the_places_of_all_plural_forms_count() -> None:
    assert places({"one": "1 of {name}", "other": "{count} of {name}"}) == {"count", "name"}


@pytest.mark.parametrize(
    ("language", "number", "form"),
    [
        ("en", 1, "one"),
        ("en", 0, "other"),
        ("fr", 0, "one"),
        ("pt", 1, "one"),
        ("pt", 2, "other"),
        ("ja", 1, "other"),
        ("ru", 21, "one"),
        ("ru", 23, "few"),
        ("ru", 11, "many"),
        ("ru", 112, "many"),
    ],
)
def test_plural_forms_follow_cldr(language: str, number: int, form: str) -> None:
    assert plural_form(language, number) == form


def test_each_language_has_the_forms_of_cldr() -> None:
    assert plural_forms("zh") == {"other"}
    assert plural_forms("de") == {"one", "other"}
    assert plural_forms("ru") == {"one", "few", "many"}
