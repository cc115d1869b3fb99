from __future__ import annotations

import pytest

from rag_engine.text.legibility import is_garbled

GERMAN = "Die Kündigungsfrist beträgt vier Wochen zum Monatsende, für Führungskräfte drei Monate."


@pytest.mark.parametrize(
    "text",
    [
        GERMAN.encode().decode("latin-1"),
        GERMAN.encode().decode("cp1252"),
        GERMAN.encode("latin-1").decode("utf-8", "replace"),
        "(cid:12)(cid:44)(cid:3)(cid:90) fees (cid:8)(cid:17) and (cid:31)",
        "Annual \ue001\ue002\ue010 leave \ue003 is \ue004\ue005 days.",
        "Th|s agree~ment beg!ns on tl1e f|rst of M@y and ru~ns f0r tw0 ye4rs in a|| branch{es of the f1rm.",
    ],
)
def test_text_that_was_read_wrongly(text: str) -> None:
    assert is_garbled(text, prose=True)


@pytest.mark.parametrize(
    "text",
    [
        GERMAN,
        "休暇は年に28日です。申請は人事部に提出してください。",
        "Отпуск составляет двадцать восемь дней в году.",
        "Ângela Água São João Ãrea: nomes que começam com letras raras.",
        "Write to jo@example.com, see https://example.com/a?b=c&d=e#f or call +49 30 123-456.",
        "The mp3player and the h264codec of the iPhone12Pro need USB-C; see ISO/IEC 27001:2022 and R&D's Q4 plan.",
        "x",
        "",
    ],
)
def test_text_that_can_be_read(text: str) -> None:
    assert not is_garbled(text, prose=True)


def test_signs_within_words_are_usual_in_code() -> None:
    code = "a[i]=b[j]; c|=d; e=f; if(g!=h)x=y; z[0]=k; m<n; p>q; r=s; t=u; v=w"
    assert not is_garbled(code)
