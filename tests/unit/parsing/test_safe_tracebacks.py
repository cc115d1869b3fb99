"""What the log says of errors: where and what kind, never what anybody wrote."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import IndexUnavailable, UnknownDocument
from rag_engine.parsing import safe_tracebacks

if TYPE_CHECKING:
    from collections.abc import Callable

WORD = "zebrafinch"


class Answered(Exception):
    """As of a library: its text holds the server's words."""

    status_code = 502


def caught(failing: Callable[[], object]) -> BaseException:
    with pytest.raises(BaseException) as error:  # noqa: PT011
        failing()
    return error.value


def answer() -> None:
    raise Answered(WORD)


def meaning_of_a_name() -> None:
    raise TypeError(WORD)


def statement() -> None:
    sqlite3.connect(":memory:").execute(WORD)


@pytest.mark.parametrize(
    ("failing", "told"),
    [
        (lambda: int(WORD), "ValueError"),
        (lambda: {}[WORD], "KeyError"),
        (lambda: open(f"/{WORD}"), "FileNotFoundError [Errno 2] No such file or directory"),  # noqa: PTH123, SIM115
        (lambda: len(3), "TypeError (object of type 'int' has no len())"),
        (lambda: "".missing, "AttributeError ('str' object has no attribute 'missing')"),  # type: ignore[attr-defined]
        (meaning_of_a_name, "TypeError"),
        (answer, "Answered 502"),
        (statement, "OperationalError SQLITE_ERROR"),
    ],
)
def test_of_a_foreign_error_its_kind_and_its_numbers_are_reported(
    failing: Callable[[], object], told: str
) -> None:
    assert safe_tracebacks.loggable_text(caught(failing)) == told


def test_our_own_sentences_are_reported_but_not_those_that_may_name_a_file() -> None:
    assert safe_tracebacks.loggable_text(IndexUnavailable("It is away.")) == "It is away."
    assert safe_tracebacks.loggable_text(UnknownDocument(f"There is no {WORD}.")) == "UnknownDocument"
    assert safe_tracebacks.loggable_text(Answered("our own"), harmless=(Answered,)) == "our own"


def test_every_error_of_a_chain_is_shown_without_its_words() -> None:
    def chained() -> None:
        try:
            try:
                int(WORD)
            except ValueError:
                {}[WORD]
        except KeyError as error:
            raise ExceptionGroup(WORD, [LookupError(WORD), IndexUnavailable("It is away.")]) from error

    text = safe_tracebacks.formatted(caught(chained))
    said = [line for line in text.splitlines() if not line.startswith((" ", "Traceback")) and line]
    assert said == [
        "ValueError",
        "During handling of the above exception, another exception occurred:",
        "KeyError",
        "The above exception was the direct cause of the following exception:",
        "ExceptionGroup",
        "LookupError",
        "IndexUnavailable: It is away.",
    ]
    assert WORD not in text
    assert "in chained" in text


def test_what_calls_for_ever_does_not_fill_the_log() -> None:
    def again() -> None:
        again()

    assert len(safe_tracebacks.formatted(caught(again)).splitlines()) < 100


def test_an_error_that_is_its_own_cause_is_shown_once() -> None:
    error = caught(answer)
    other = caught(answer)
    error.__context__, other.__context__ = other, error
    assert safe_tracebacks.formatted(error).count("Answered 502") == 2
