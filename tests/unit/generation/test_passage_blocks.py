from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from rag_engine.generation.context_budget import Excerpt
from rag_engine.generation.passage_blocks import by_document, listed, passage
from rag_engine.text import tokens
from rag_engine.types import DocumentId, Hit, SectionKind
from tests.hypothesis_profiles import examples
from tests.unit import prompting


def excerpt(
    text: str,
    *,
    document: str = "handbook.pdf",
    ordinal: int = 0,
    headings: tuple[str, ...] = (),
    anchor: str = "",
    kind: SectionKind = "prose",
    uri: str = "",
) -> Excerpt:
    hit = prompting.passage(text, title=document, headings=headings, anchor=anchor, kind=kind)
    chunk = replace(hit.chunk, document=DocumentId(document), ordinal=ordinal, uri=uri)
    return Excerpt(hit=Hit(chunk=chunk, score=1.0, rank=1), text=text)


def test_a_document_is_named_once_and_a_section_when_it_begins() -> None:
    of = {"headings": ("Leave", "Parents"), "document": "The handbook of all employees.pdf"}
    excerpts = [
        excerpt("Sixteen weeks.", ordinal=3, anchor="p. 3", **of),
        excerpt("Paid in full.", ordinal=4, anchor="p. 4", **of),
        excerpt("Ask early.", ordinal=9, anchor="p. 9", **of),
    ]
    assert listed(excerpts) == [
        '<document title="The handbook of all employees.pdf">',
        '<passage id="1" section="Leave &gt; Parents" place="p. 3">\nSixteen weeks.\n</passage>',
        '<passage id="2" place="p. 4">\nPaid in full.\n</passage>',
        '<passage id="3" section="Leave &gt; Parents" place="p. 9">\nAsk early.\n</passage>',
        "</document>",
    ]


def test_passages_of_several_documents_are_numbered_through() -> None:
    blocks = listed([excerpt("One.", document="a.md"), excerpt("Two.", document="b.md", ordinal=7)])
    assert blocks == [
        '<passage id="1" title="a.md">\nOne.\n</passage>',
        '<passage id="2" title="b.md">\nTwo.\n</passage>',
    ]


def test_a_link_is_given_if_it_leads_anywhere() -> None:
    there = excerpt("One.", document="a.md", uri='https://chat.example/a?b="<c>')
    assert listed([there], known={}) == [
        '<passage id="1" title="a.md" link="https://chat.example/a?b=&quot;&lt;c&gt;">\nOne.\n</passage>'
    ]
    assert "link" not in listed([there])[0]
    assert "link" not in listed([excerpt("One.", uri="file:///home/anna/secret/a.md")], known={})[0]


def test_author_and_date_are_given_where_they_are_known() -> None:
    old = {"author": ("Anna",), "created": ("2023-01-05",)}
    new = {"created": ("2023-01-05",), "modified": ("2025-02-01",)}
    excerpts = [excerpt("Two.", document="old.md"), excerpt("Four.", document="new.md")]
    blocks = listed(excerpts, known={DocumentId("old.md"): old, DocumentId("new.md"): new})
    assert blocks[0].startswith('<passage id="1" title="old.md" author="Anna" date="2023-01-05">')
    assert blocks[1].startswith('<passage id="2" title="new.md" date="2025-02-01">')


def test_the_header_of_a_table_is_stated_once() -> None:
    table = {"document": "prices.xlsx", "kind": "table"}
    excerpts = [
        excerpt("Item | Price\nTea | 2", ordinal=0, anchor="Prices!A1:B2", **table),
        excerpt("Item | Price\nRice | 3", ordinal=1, anchor="Prices!A3:B3", **table),
        excerpt("Item | Price\nSalt | 1", ordinal=5, anchor="Prices!A7:B7", **table),
    ]
    text = "\n".join(listed(excerpts))
    assert text.count("Item | Price") == 2
    assert 'place="Prices!A3:B3">\nRice | 3\n' in text


def test_a_garbled_passage_says_so() -> None:
    assert listed([excerpt("(cid:12)(cid:44)(cid:3)(cid:90) (cid:8)(cid:17)")])[0].startswith(
        '<passage id="1" title="handbook.pdf" text="garbled">'
    )


def test_a_table_that_was_cut_says_so() -> None:
    whole = excerpt("Item | Price\nTea | 2\nRice | 3", kind="table")
    assert "incomplete" not in listed([whole])[0]
    cut = replace(whole, text="Item | Price\nTea | 2")
    assert listed([cut])[0].startswith('<passage id="1" title="handbook.pdf" table="incomplete">')


def test_documents_come_by_their_best_passage_each_in_reading_order() -> None:
    found = [("b", 4), ("a", 2), ("b", 1), ("a", 9), ("c", 0)]
    excerpts = [excerpt(f"{name}{at}", document=name, ordinal=at) for name, at in found]
    assert [one.text for one in by_document(excerpts)] == ["b1", "b4", "a2", "a9", "c0"]


@examples(200)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "Notes.md", "Travel policy of the whole group 2025.pdf", "休暇規程.docx"]),
            st.integers(0, 9),
            st.sampled_from([(), ("Leave",), ("Leave", "Parents and guardians")]),
            st.sampled_from(
                [
                    "Text.",
                    "Item | Price\nTea | 2",
                    "A longer sentence of ten words stands in this passage here.",
                ]
            ),
        ),
        max_size=12,
        unique_by=lambda drawn: drawn[:2],
    ),
    st.booleans(),
)
def test_they_take_no_more_tokens_together_than_alone(
    drawn: list[tuple[str, int, tuple[str, ...], str]], described: bool
) -> None:
    excerpts = by_document(
        [
            excerpt(text, document=name, ordinal=at, headings=headings, uri=f"https://x.example/{name}")
            for name, at, headings, text in drawn
        ]
    )
    properties = {"author": ("Anna Müller",), "modified": ("2025-03-01",)}
    known = {one.hit.chunk.document: properties for one in excerpts} if described else None
    alone = [passage(at, one.hit, one.text, known=known) for at, one in enumerate(excerpts, 1)]
    assert tokens.count("\n".join(listed(excerpts, known=known))) <= tokens.count("\n".join(alone))
