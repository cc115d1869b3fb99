"""Which of the visible documents are meant."""

from __future__ import annotations

import pytest

from rag_engine.summaries.intent import requested
from rag_engine.summaries.target_documents import TargetMatch, match_targets
from rag_engine.types import Document, DocumentId, DocumentRecord, DocumentState, KnowledgeBaseId

TITLES = (
    "handbook.md",
    "Leave Policy 2024.pdf",
    "travel-policy.docx",
    "Q3 report.pptx",
    "AnnualReport_2023.pdf",
    "服务合同.pdf",
    "notes.txt",
    "отчёт.docx",
    "budget.xlsx",
)


def record(title: str, *, base: str = "kb", state: DocumentState = "ready", name: str = "") -> DocumentRecord:
    document = Document(
        id=DocumentId(name or title),
        knowledge_base=KnowledgeBaseId(base),
        title=title,
        uri=f"chat://{title}",
        media_type="",
        digest=name or title,
    )
    return DocumentRecord(document=document, state=state, chunks=3)


RECORDS = [record(title) for title in TITLES]


def found(
    text: str, *recent: str, records: list[DocumentRecord] | None = None, continues: bool = False
) -> TargetMatch:
    request = requested(text)
    assert request is not None, text
    names = {KnowledgeBaseId("kb"): "#people", KnowledgeBaseId("other"): "Handbooks"}
    return match_targets(
        request, RECORDS if records is None else records, recent=recent, named=names, continues=continues
    )


def titles(answer: TargetMatch) -> list[str]:
    return [one.document.title for one in answer.documents]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("summarise handbook.md", "handbook.md"),
        ("tl;dr handbook", "handbook.md"),
        ("summarise the handbook", "handbook.md"),
        ("What are the main points of HANDBOOK.MD?", "handbook.md"),
        ("summarise the leave policy", "Leave Policy 2024.pdf"),
        ("summarize the anual report", "AnnualReport_2023.pdf"),
        ("what is the Q3 report about?", "Q3 report.pptx"),
        ("budget summary", "budget.xlsx"),
        ("总结服务合同", "服务合同.pdf"),
        ("帮我总结一下服务合同.pdf", "服务合同.pdf"),
        ("Перескажи отчёт.docx", "отчёт.docx"),
    ],
)
def test_a_document_by_its_name(text: str, title: str) -> None:
    answer = found(text, "notes.txt")
    assert (answer.finding, titles(answer)) == ("documents", [title])


@pytest.mark.parametrize(
    "text",
    [
        "summarise this file",
        "tl;dr",
        "what is this about?",
        "summarise the last upload",
        "Fass das bitte zusammen",
        "summarise the presentation",
        "このファイルを3つのポイントで要約してください",
        "이 문서는 무엇에 관한 건가요?",
        "أعطني ملخصا للمستند",
    ],
)
def test_this_file_is_what_came_last(text: str) -> None:
    answer = found(text, "notes.txt", "budget.xlsx")
    assert (answer.finding, titles(answer)) == ("documents", ["notes.txt", "budget.xlsx"])


@pytest.mark.parametrize(
    "text",
    [
        "summarise the leave section of handbook.md",
        "summarise parental leave rules",
        "summarise all leave rules",
        "tell me about leave",
        "summarise this thread",
        "Was steht in der Zusammenfassung über Kosten?",
        "摘要里有什么数字？",
    ],
)
def test_a_part_of_a_file_or_a_topic_is_a_question(text: str) -> None:
    assert found(text, "notes.txt").finding == "topic"


def test_names_that_look_like_wishes() -> None:
    records = [record("long.md"), record("Brief history in 5 points.pdf"), record("other.md")]
    assert titles(found("Summarise long.md", records=records)) == ["long.md"]
    asked = "summarise Brief history in 5 points.pdf in 100 words"
    assert titles(found(asked, records=records)) == ["Brief history in 5 points.pdf"]


def test_several_names_and_names_of_several() -> None:
    assert titles(found("summarise handbook.md and notes.txt")) == ["handbook.md", "notes.txt"]
    unclear = found("summarise the policy")
    assert (unclear.finding, titles(unclear)) == ("several", ["Leave Policy 2024.pdf", "travel-policy.docx"])


def test_no_file_in_the_conversation() -> None:
    assert found("summarise this file").finding == "several"
    assert found("summarise this file", records=[]).finding == "nothing_here"
    assert titles(found("summarise this file", records=RECORDS[:1])) == ["handbook.md"]
    assert found("what is this about?").finding == "topic"


def test_a_file_that_nobody_here_may_see_is_as_one_that_is_not_there() -> None:
    hidden, nowhere = found("summarise secret.pdf"), found("summarise nothing.pdf")
    assert (hidden.finding, hidden.name, hidden.documents) == ("unknown", "secret.pdf", ())
    assert (nowhere.finding, nowhere.name, nowhere.documents) == ("unknown", "nothing.pdf", ())
    # The latest document of the conversation is not named if it is not visible.
    assert "secret.pdf" not in titles(found("summarise this file", "secret.pdf"))


def test_everything_is_said() -> None:
    others = [record("a.md", base="other"), record("b.md", base="other")]
    assert len(found("summarise everything", records=[*RECORDS, *others]).documents) == len(RECORDS) + 2
    assert titles(found("summarise everything in handbooks", records=[*RECORDS, *others])) == ["a.md", "b.md"]
    assert titles(found("summarise all documents in Handbooks", records=[*RECORDS, *others])) == [
        "a.md",
        "b.md",
    ]


def test_after_another_answer_it_may_mean_that_answer() -> None:
    assert found("summarise that", "notes.txt", continues=True).finding == "topic"
    assert titles(found("summarise that file", "notes.txt", continues=True)) == ["notes.txt"]
    assert titles(found("tl;dr", "notes.txt", continues=True)) == ["notes.txt"]


def test_of_two_with_one_name_the_one_of_the_conversation() -> None:
    twins = [record("report.pdf", name="one"), record("report.pdf", name="two")]
    assert [one.document.id for one in found("summarise report.pdf", "two", records=twins).documents] == [
        "two"
    ]
    assert len(found("summarise report.pdf", records=twins).documents) == 2


def test_a_file_that_is_no_document_yet_is_known_by_its_uri() -> None:
    waiting = record("new.pdf", state="parsing")
    answer = found("summarise this file", "chat://new.pdf", records=[*RECORDS, waiting])
    assert answer.documents == (waiting,)
