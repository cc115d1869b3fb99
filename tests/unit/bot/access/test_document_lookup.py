"""Which document somebody means, on the command line and in chat."""

from __future__ import annotations

import pytest

from bot.access import document_lookup
from rag_engine.errors import UnknownDocument, UserError
from rag_engine.types import Document, DocumentId, DocumentRecord, KnowledgeBaseId


def record(identity: str, title: str) -> DocumentRecord:
    document = Document(
        id=DocumentId(identity),
        knowledge_base=KnowledgeBaseId("kb"),
        title=title,
        uri="",
        media_type="text/plain",
        digest="",
    )
    return DocumentRecord(document=document, state="ready")


RECORDS = [
    record("aaaa1", "Leave.txt"),
    record("aaaa2", "leave.txt"),
    record("bbbb1", "Rates.txt"),
    record("cccc1", "aaaa1"),
    record("cccc2", "twice"),
    record("dddd1", "twice"),
]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("aaaa1", "aaaa1"),  # an id goes before a title
        ("leave.txt", "aaaa2"),  # and a title as it is before one in other letters
        ("RATES.TXT", "bbbb1"),
        ("bbbb", "bbbb1"),
    ],
)
def test_a_document_is_meant_by_its_id_or_its_title_or_the_beginning_of_its_id(
    wanted: str, expected: str
) -> None:
    assert document_lookup.find(RECORDS, wanted, base="kb", show="list").document.id == expected


@pytest.mark.parametrize("wanted", ["bbb", "b", "nowhere"])
def test_short_beginnings_and_unknown_names_mean_none(wanted: str) -> None:
    with pytest.raises(UnknownDocument) as unknown:
        document_lookup.find(RECORDS, wanted, base="Handbook", show="kb show")
    assert str(unknown.value) == f"There is no document '{wanted}' in Handbook: `kb show` lists them."


def test_a_title_typed_wrong_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownDocument, match=r"no document 'raets.txt' in kb. Did you mean 'Rates.txt'?"):
        document_lookup.find(RECORDS, "raets.txt", base="kb", show="kb show")


@pytest.mark.parametrize("wanted", ["twice", "LEAVE.TXT", "aaaa", "cccc"])
def test_what_could_be_several_is_asked_back_with_their_ids(wanted: str) -> None:
    with pytest.raises(UserError, match=rf"2 documents are called <{wanted}>: .*1.*\)"):
        document_lookup.find(RECORDS, wanted, base="kb", show="", quoted=lambda text: f"<{text}>")
