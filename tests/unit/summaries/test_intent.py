"""Which questions ask for a summary, of what and how long; and which only contain the word."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.summaries.intent import requested
from rag_engine.summaries.length_and_language import LengthAndLanguage

ASKED = {
    "en": """summarise this file|Summarize this file please|summary|Summary of report.pdf please|sum this up|give me an overview of report.pdf
what is this document about?|key points of the last upload|What are the main points of the contract?|What's in this file?|I need a summary of the annual report
Can you summarize the attached document?|a one-paragraph summary of this file|<@U123> summarise the file I just uploaded|Thanks! Now summarise notes.txt.
Hi, could you please summarise report.pdf for me?|in 3 sentences: summarise this|summarise all documents|Give me the gist of this report""",
    "": "tl;dr|TL;DR|tldr?|report.pdf: tl;dr",
    "de": """Fasse diese Datei zusammen|Kannst du mir report.pdf kurz zusammenfassen?|Fass das bitte zusammen|Gib mir einen Überblick über handbuch.docx
Worum geht es in diesem Dokument?|Zusammenfassung bitte|Was sind die wichtigsten Punkte?|Erstelle eine Zusammenfassung des Berichts""",
    "fr": """Résume ce fichier|Peux-tu résumer rapport.pdf ?|Fais-moi un résumé de ce document|De quoi parle ce document ?|Quels sont les points clés du rapport ?""",
    "es": """Resume este archivo|Resúmeme este documento|Hazme un resumen del archivo|¿De qué trata este documento?|¿Puedes resumir informe.pdf?""",
    "pt": """Resuma este arquivo|Faça um resumo deste documento|Do que trata este documento?|Você pode resumir o arquivo?""",
    "it": """Riassumi questo file|Fammi un riassunto di relazione.pdf|Di cosa parla questo documento?|Puoi riassumere questo documento?""",
    "nl": """Vat dit bestand samen|Geef een korte samenvatting van rapport.pdf|Waar gaat dit document over?|Kun je dit document samenvatten?""",
    "ru": """Перескажи этот файл|Сделай краткое резюме этого документа|О чём этот документ?|основные тезисы документа""",
    "zh": """总结这个文件|请总结一下这个文件|这份文件讲了什么？|帮我概括一下report.pdf|这个文件的主要内容是什么？""",
    "ja": """このファイルを要約して|report.pdfの要約をお願いします|この文書は何について書かれていますか？""",
    "ko": """이 파일 요약해줘|report.pdf를 요약해 주세요|이 문서는 무엇에 관한 건가요?""",
    "ar": """لخص هذا الملف|أعطني ملخصا للمستند|عن ماذا يتحدث هذا الملف؟""",
}
REQUESTS = [
    (language, text)
    for language, texts in ASKED.items()
    for line in texts.split("\n")
    for text in line.split("|")
]


@pytest.mark.parametrize(("language", "text"), REQUESTS)
def test_a_request_for_a_summary(language: str, text: str) -> None:
    request = requested(text)
    assert request is not None
    assert request.language == language


@pytest.mark.parametrize(
    "text",
    """the summary table says what?|who wrote the summary?|summarise what the policy says about leave|Where is the summary?|What is the notice period?
Is there an executive summary in report.pdf?|How do I summarise a column in Excel?|What does the summary on page 3 say about costs?|When is the overview due?
Who gave an overview of the results?|Does the report have a summary?|What did Anna say about the outline?|Wer hat die Zusammenfassung geschrieben?
Qui a écrit le résumé ?|谁写了摘要？|Кто написал резюме?|¿Quién escribió el resumen?|要約は誰が書きましたか|What was decided about the outline of the plan?
Give me the key figures for March|لماذا كتب الملخص؟|shorter|in German|""".replace("\n", "|").split("|"),
)  # fmt: skip
def test_a_question_that_only_has_the_word_in_it(text: str) -> None:
    assert requested(text) is None


def test_a_pasted_text_is_no_request() -> None:
    assert requested("Summarise this: " + "The committee met on Monday and talked. " * 20) is None


@pytest.mark.parametrize(
    ("text", "style"),
    [
        ("summarise this file in 100 words", LengthAndLanguage(words=100)),
        ("a 200-word summary of report.pdf", LengthAndLanguage(words=200)),
        ("summarise in 5 bullet points", LengthAndLanguage(points=5)),
        ("give me three key points of this file", LengthAndLanguage(points=3)),
        ("summarise this file as bullet points", LengthAndLanguage(bullets=True)),
        ("summarise this in two sentences", LengthAndLanguage(sentences=2)),
        ("a one-paragraph summary of this file", LengthAndLanguage(paragraphs=1)),
        ("give me a short summary of handbook.md in German", LengthAndLanguage(size="short", language="de")),
        ("a detailed summary of this file", LengthAndLanguage(size="long")),
        ("summarise long-brief.md", LengthAndLanguage()),
        (
            "Fass das bitte in fünf Stichpunkten auf Englisch zusammen",
            LengthAndLanguage(points=5, language="en"),
        ),
        ("Peux-tu résumer rapport.pdf en 100 mots ?", LengthAndLanguage(words=100)),
        ("Resume este archivo en 3 frases", LengthAndLanguage(sentences=3)),
        ("Riassumi questo file in 50 parole", LengthAndLanguage(words=50)),
        ("Кратко перескажи отчёт.docx на английском", LengthAndLanguage(size="short", language="en")),
        ("请用100字总结一下这个文件", LengthAndLanguage(words=100)),
        ("このファイルを3つのポイントで要約してください", LengthAndLanguage(points=3)),
        ("report.pdf를 3문장으로 요약해 주세요", LengthAndLanguage(sentences=3)),
    ],
)
def test_how_long_and_in_which_language(text: str, style: LengthAndLanguage) -> None:
    request = requested(text)
    assert request is not None
    assert request.style == style


@pytest.mark.parametrize(
    ("text", "style"),
    [
        ("shorter", LengthAndLanguage(words=50, size="short")),
        ("make it shorter please", LengthAndLanguage(words=50, size="short")),
        ("in German", LengthAndLanguage(words=100, language="de")),
        ("as 5 bullet points", LengthAndLanguage(points=5)),
        ("longer", LengthAndLanguage(words=200, size="long")),
        ("kürzer bitte", LengthAndLanguage(words=50, size="short")),
        ("plus court", LengthAndLanguage(words=50, size="short")),
        ("más corto", LengthAndLanguage(words=50, size="short")),
        ("короче", LengthAndLanguage(words=50, size="short")),
        ("更短一点", LengthAndLanguage(words=50, size="short")),
        ("もっと短く", LengthAndLanguage(words=50, size="short")),
    ],
)
def test_after_a_summary_its_form_can_be_changed(text: str, style: LengthAndLanguage) -> None:
    request = requested(text, ["summarise report.pdf in 100 words"])
    assert request is not None
    assert request.about == "report.pdf"
    assert request.style == style


def test_forms_add_up_and_another_question_ends_it() -> None:
    asked = ["summarise report.pdf", "in German"]
    request = requested("shorter", asked)
    assert request is not None
    assert request.style == LengthAndLanguage(size="short", language="de")
    assert requested("shorter", [*asked, "Who wrote it?"]) is None
    assert requested("more on section 3", asked) is None


def test_what_else_is_said_is_the_focus() -> None:
    request = requested("Summarise this file. Focus on the costs.")
    assert request is not None
    assert request.focus == "Focus on the costs"
    assert requested("Summarise this file. Who wrote it?") is None


@given(st.text(max_size=300))
def test_any_text_is_read_and_soon(text: str) -> None:
    started = time.perf_counter()
    requested(text, [text])
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize("text", ["summary of " * 30, "in the a " * 40, "a " * 190, "(" * 390, "kurz " * 70])
def test_no_text_takes_long(text: str) -> None:
    requested(text)
    started = time.perf_counter()
    requested(text)
    assert time.perf_counter() - started < 0.25
