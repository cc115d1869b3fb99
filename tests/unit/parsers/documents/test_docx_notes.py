"""Footnotes, endnotes and comments of Word."""

from __future__ import annotations

from typing import TYPE_CHECKING

import docx as docx_library

from rag_engine.parsers.documents import docx
from tests.unit.parsers.ooxml import paragraph, part, style, write_word

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.types import Section

_STYLES = part("w:styles", style("H1", "heading 1"))


def _read(tmp_path: Path, body: str, **parts: str) -> list[Section]:
    path = tmp_path / "file"
    write_word(path, body, **parts)
    return list(docx.parse(path))


def _note(kind: str, identifier: int, text: str, attributes: str = "") -> str:
    return f'<w:{kind} w:id="{identifier}" {attributes}>{paragraph(text)}</w:{kind}>'


def _pointing(text: str, kind: str, identifier: int) -> str:
    return f'<w:p><w:r><w:t>{text}</w:t></w:r><w:r><w:{kind}Reference w:id="{identifier}"/></w:r></w:p>'


def test_notes_follow_their_section_with_the_numbers_that_word_displays(tmp_path: Path) -> None:
    footnotes = part(
        "w:footnotes",
        _note("footnote", -1, "---", 'w:type="separator"')
        + _note("footnote", 7, "Of a calendar year.")
        + _note("footnote", 3, "By telephone."),
    )
    endnotes = part("w:endnotes", _note("endnote", 1, "See the contract."))
    body = (
        paragraph("Leave", "H1")
        + _pointing("Thirty days.", "footnote", 7)
        + paragraph("More.")
        + paragraph("Sick leave", "H1")
        + _pointing("Call.", "footnote", 3)
        + _pointing("Rest.", "endnote", 1)
    )
    sections = _read(tmp_path, body, styles=_STYLES, footnotes=footnotes, endnotes=endnotes)
    assert [(section.anchor, section.headings, section.text) for section in sections] == [
        ("§ Leave", ("Leave",), "Leave\n\nThirty days.\n\nMore."),
        ("footnote 1", ("Leave",), "Footnote 1: Of a calendar year."),
        ("§ Sick leave", ("Sick leave",), "Sick leave\n\nCall.\n\nRest."),
        ("footnote 2", ("Sick leave",), "Footnote 2: By telephone."),
        ("endnote i", ("Sick leave",), "Endnote i: See the contract."),
    ]


def test_a_note_with_a_deleted_reference_is_left_out(tmp_path: Path) -> None:
    footnotes = part("w:footnotes", _note("footnote", 1, "gone") + _note("footnote", 2, "kept"))
    deleted = f"<w:p><w:del>{_pointing('', 'footnote', 1)[5:-6]}</w:del></w:p>"
    sections = _read(tmp_path, deleted + _pointing("Text.", "footnote", 2), footnotes=footnotes)
    assert [section.text for section in sections] == ["Text.", "Footnote 1: kept"]


def test_a_note_in_a_cell_and_one_without_a_reference(tmp_path: Path) -> None:
    footnotes = part("w:footnotes", _note("footnote", 1, "in thousands") + _note("footnote", 2, "alone"))
    cells = f"<w:tc>{_pointing('Cost', 'footnote', 1)}</w:tc><w:tc>{paragraph('5')}</w:tc>"
    sections = _read(tmp_path, f"<w:tbl><w:tr>{cells}</w:tr></w:tbl>", footnotes=footnotes)
    assert [(section.anchor, section.text) for section in sections] == [
        ("", "Cost | 5"),
        ("footnote 1", "Footnote 1: in thousands"),
        ("footnote 2", "Footnote 2: alone"),
    ]


def test_comments_with_quoted_words_and_replies(tmp_path: Path) -> None:
    def comment(identifier: int, author: str, text: str) -> str:
        return (
            f'<w:comment w:id="{identifier}" w:author="{author}"><w:p w14:paraId="0{identifier}"><w:r><w:t>{text}</w:t>'
            "</w:r></w:p></w:comment>"
        )

    comments = part(
        "w:comments",
        comment(4, "Ines", "Is that right?") + comment(5, "Tomas", "Yes.") + comment(6, "", "Odd."),
    )
    threads = part(
        "w15:commentsEx",
        '<w15:commentEx w15:paraId="04" w15:done="1"/><w15:commentEx w15:paraId="05" w15:paraIdParent="04"/>',
    )
    body = (
        '<w:p><w:r><w:t>We give </w:t></w:r><w:commentRangeStart w:id="4"/><w:r><w:t>thirty</w:t></w:r><w:r><w:t> days'
        '</w:t></w:r><w:commentRangeEnd w:id="4"/><w:r><w:commentReference w:id="4"/></w:r>'
        '<w:r><w:commentReference w:id="5"/></w:r><w:r><w:t>.</w:t></w:r></w:p>'
    ) + _pointing("End.", "comment", 6)
    sections = _read(tmp_path, body, comments=comments, commentsExtended=threads)
    assert [(section.anchor, section.text) for section in sections] == [
        ("", "We give thirty days.\n\nEnd."),
        ("comment 1", "Comment 1 by Ines on “thirty days”: Is that right? (resolved)\nReply by Tomas: Yes."),
        ("comment 2", "Comment 2: Odd."),
    ]


def test_comments_that_reply_to_each_other_in_a_circle(tmp_path: Path) -> None:
    comments = part(
        "w:comments",
        "".join(
            f'<w:comment w:id="{at}"><w:p w14:paraId="0{at}"><w:r><w:t>c{at}</w:t></w:r></w:p></w:comment>'
            for at in (1, 2)
        ),
    )
    threads = part(
        "w15:commentsEx",
        '<w15:commentEx w15:paraId="01" w15:paraIdParent="02"/><w15:commentEx w15:paraId="02" w15:paraIdParent="01"/>',
    )
    sections = _read(tmp_path, paragraph("x"), comments=comments, commentsExtended=threads)
    assert [section.text for section in sections] == ["x", "Comment 1: c1", "Comment 2: c2"]


def test_comments_as_a_program_without_threads_writes_them(tmp_path: Path) -> None:
    path = tmp_path / "file"
    document = docx_library.Document()
    for text in ("First.", "Second."):
        commented = document.add_paragraph(text)
        document.add_comment(commented.runs, text=f"On {text}", author="Ana")
    document.save(str(path))
    assert [section.text for section in docx.parse(path)] == [
        "First.\n\nSecond.",
        "Comment 1 by Ana on “First.”: On First.",
        "Comment 2 by Ana on “Second.”: On Second.",
    ]
