"""Every sentence of the engine that people may read is known in every language."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, cast, get_args

import pytest

import rag_engine
from rag_engine import errors
from rag_engine.parsers._archives import unpacking_limits
from rag_engine.parsers._archives.unpacking_limits import Exhausted
from rag_engine.parsers._ocr import unread_pages
from rag_engine.parsing import media_types
from rag_engine.parsing.media_types import IWORK_HINT
from rag_engine.text.messages import CATALOG, LANGUAGES, in_language
from rag_engine.text.messages.message_catalog import places
from rag_engine.text.messages.sentence_translator import SentenceTranslator

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TRANSLATOR = SentenceTranslator((CATALOG, None))
OTHERS = sorted(LANGUAGES - {"en"})
PACKAGE = Path(rag_engine.__file__).parent
WALKED = ("parsers", "parsing", "ingestion", "metadata", "storage", "retriever.py")
"""What says sentences that reach chat; `archive` and `evaluation` speak to the operator at the console."""
AT_THE_CONSOLE = {"ingestion/blobs.py", "storage/history.py"}
SAMPLES = {
    "number": "2",
    "total": "12",
    "size": "70",
    "most": "64",
    "seconds": "120",
    "megabytes": "512",
    "length": "9,000",
    "suffix": "docx",
    "sentence": "their letters cannot be made out",
    "members": "a.pdf (damaged), b.zip (protected by a password) and 3 more",
    "places": "p. 3, p. 5–7 and 4 more",
}
KINDS = {
    name
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, errors.UserError)
}


def english(name: str) -> list[str]:
    sentence: object = CATALOG.sentences("en")[name]
    return cast("list[str]", sentence) if isinstance(sentence, list) else [cast("str", sentence)]


def filled(wording: str) -> str:
    return re.sub(r"\{(\w+)\}", lambda place: SAMPLES.get(place[1], f"Xy{place[1]}"), wording)


@pytest.mark.parametrize("language", OTHERS)
def test_every_sentence_has_a_translation_with_places_that_every_wording_fills(language: str) -> None:
    translations = CATALOG.sentences(language)
    assert translations.keys() == CATALOG.sentences("en").keys()
    for name, translation in translations.items():
        for wording in english(name):
            assert places(translation) <= places(wording), (name, wording)
        assert name == "within" or translation not in english(name), name


@pytest.mark.parametrize("language", OTHERS)
def test_a_filled_sentence_is_found_again_and_read_in_the_language(language: str) -> None:
    for name in sorted(CATALOG.sentences("en")):
        for wording in english(name):
            text = filled(wording)
            translated = in_language(text, language)
            assert translated != text, name
            for left in ("{", "letters cannot", "protected by a password", " more"):
                assert left not in translated, name
            if "{name}" in cast("str", CATALOG.sentences(language)[name]):
                assert "Xyname" in translated, name


def test_several_sentences_are_translated_one_by_one() -> None:
    text = "1 of 9 pages could not be read (p. 2): it is damaged. 3 of 9 pages could not be read (p. 4): their letters cannot be made out."
    assert in_language(text, "de") == (
        "1 von 9 Seiten konnten nicht gelesen werden (p. 2): der Inhalt ist beschädigt. "
        "3 von 9 Seiten konnten nicht gelesen werden (p. 4): die Buchstaben sind nicht zu erkennen."
    )
    assert in_language(f"a.zip › b.pdf: {text}", "de").startswith("a.zip › b.pdf: 1 von 9 Seiten")


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("model", ["gpt-4.1", "local model"])
def test_a_failure_before_the_name_of_a_model_is_not_taken_for_the_name(language: str, model: str) -> None:
    failure = "The language model is out of order; try again in a moment."
    text = in_language(f"{failure} {model} answered instead.", language)
    assert model in text
    assert "out of order" not in text
    assert "anguage model" not in text


def test_a_reason_within_a_reason_is_translated() -> None:
    text = "The new version could not be read, so the earlier one stays searchable: The file is protected by a password; remove the password and add it again."
    assert in_language(text, "de") == (
        "Die neue Fassung konnte nicht gelesen werden, die frühere bleibt durchsuchbar: Die Datei ist mit einem Passwort "
        "geschützt; entferne das Passwort, und füge sie noch einmal hinzu."
    )


def test_a_shortened_reason_keeps_its_whole_sentences() -> None:
    text = "2 of 9 messages could not be read. It holds more than is read at once: some very lo…"
    assert in_language(text, "de") == "2 von 9 Nachrichten konnten nicht gelesen werden. …"


def test_unknown_texts_and_languages_stay_as_they_are() -> None:
    assert in_language("A disk is full.", "de") == "A disk is full."
    assert in_language("The file is too large.", "fi") == "The file is too large."
    assert in_language("", "de") == ""
    assert in_language("x" * 5_000, "de") == "x" * 5_000


@pytest.mark.parametrize(
    "text",
    ["a: " * 250, "x is y, " * 90, "The page could not be read. " * 28, "a could not be read. " * 38 + "…"],
)
def test_names_that_look_like_many_sentences_stay_as_they_are(text: str) -> None:
    assert in_language(text, "de") == text


def test_the_sentences_of_the_error_classes_are_known() -> None:
    for name in KINDS:
        assert TRANSLATOR.knows(str(vars(errors)[name]())), name


@pytest.mark.parametrize("folder", WALKED)
def test_every_sentence_that_the_source_says_to_people_is_known(folder: str) -> None:
    base = PACKAGE / folder
    files = [base] if base.is_file() else sorted(base.rglob("*.py"))
    said = [(where, text) for file in files for where, text in sentences_of(file)]
    assert said
    assert [(where, text) for where, text in said if not TRANSLATOR.knows(text)] == []


def sentences_of(file: Path) -> Iterator[tuple[str, str]]:
    """The texts of errors for users and of notices; values in f-strings become samples."""
    relative = file.relative_to(PACKAGE).as_posix()
    if relative in AT_THE_CONSOLE:
        return
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            text = None
            if node.func.id in KINDS and node.args:
                text = text_of(node.args[0], file)
            elif node.func.id == "Section" and is_notice(node):
                text = text_of(next(word.value for word in node.keywords if word.arg == "text"), file)
            if text:
                yield f"{relative}:{node.lineno}", text


def is_sentence(node: ast.expr) -> bool:
    return ast.unparse(node).partition(".")[0] in {"sentence", "verdict"}


def is_notice(node: ast.Call) -> bool:
    return any(
        word.arg == "kind" and isinstance(word.value, ast.Constant) and word.value.value == "notice"
        for word in node.keywords
    )


def text_of(node: ast.expr, file: Path) -> str | None:
    """The text if it is written in the source or in a constant of the module; None if the program puts it together."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=[ast.FormattedValue(value=first), *_]) if is_sentence(first):
            return None  # tested below
        case ast.JoinedStr(values=parts):
            return "".join(_part(part, file) for part in parts)
        case ast.Name(id=name) if name.lstrip("_").isupper():
            path = file.relative_to(PACKAGE.parent).with_suffix("").as_posix().replace("/", ".")
            return cast("str", getattr(importlib.import_module(path.removesuffix(".__init__")), name))
        case _:
            return None


def _part(part: ast.expr, file: Path) -> str:
    if isinstance(part, ast.Constant):
        return cast("str", part.value)
    value = cast("ast.FormattedValue", part).value
    return str(
        text_of(value, file) or IWORK_HINT if isinstance(value, ast.Name) and value.id.isupper() else "7"
    )


@pytest.mark.parametrize("reason", get_args(unread_pages.Reason))
@pytest.mark.parametrize(
    ("numbers", "pages"), [([1], 1), ([1, 2], 2), ([3], 9), ([3, 5, 6], 9), (range(1, 80, 2), 99)]
)
def test_the_sentence_of_unread_pages_is_known(
    reason: unread_pages.Reason, numbers: Sequence[int], pages: int
) -> None:
    text = unread_pages.sentence(reason, numbers, pages)
    assert TRANSLATOR.knows(text)
    assert "could not" not in in_language(text, "de")


@pytest.mark.parametrize("found", [0, 1, 2, 40])
@pytest.mark.parametrize(
    "error",
    [
        errors.EncryptedFile(),
        errors.FileTooLarge(),
        errors.CorruptFile(),
        errors.UnsupportedFile(),
        Exhausted(),
    ],
)
def test_the_sentences_of_archives_are_known(found: int, error: Exception) -> None:
    for failed in ({}, {f"folder/{number}, and {number}.pdf": error for number in range(max(found - 1, 1))}):
        text = str(unpacking_limits.failure(failed, found))
        assert TRANSLATOR.knows(text), text


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.heic", b"\0\0\0\x18ftypheic"),
        ("a.mp4", b"\0\0\0\x18ftypisom"),
        ("a.exe", bytes(range(256))),
        ("a.pdf", b"plain words"),
        ("a.pdf", bytes(range(256))),
        ("a.7z", b"7z\xbc\xaf\x27\x1c\0\4"),
        ("a.docx", b"PK\3\4broken"),
        ("a.txt", b""),
    ],
)
def test_the_refusals_of_file_types_are_known(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(errors.UserError) as refused:
        media_types.parser_name(path, name)
    assert TRANSLATOR.knows(str(refused.value)), refused.value
