from __future__ import annotations

from rag_engine.models.extractive.candidates import candidates
from rag_engine.models.extractive.sentence_scores import question_terms
from rag_engine.models.extractive.table_rows import asked_cells, fit, named_cells, split_row
from rag_engine.text.language.months import months
from tests.unit.prompting import passage

_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def test_of_a_wide_row_the_cells_that_are_asked_about() -> None:
    cells = named_cells(["Team", "Item", *_MONTHS], ["Sales", "Travel", *map(str, range(12))])
    question = "What did Sales plan for travel in March?"
    chosen = asked_cells(cells, question_terms(question), months(question), language="en")
    assert [str(cell) for cell in chosen] == ["Team: Sales", "Item: Travel", "Mar: 2"]
    assert len(asked_cells(cells, question_terms("Who are you?"), frozenset(), language="en")) == 8


def test_a_cell_that_is_named_in_whole_fits_better() -> None:
    terms = question_terms("travel budget of Sales North")
    rarities = [1.0] * len(terms)
    whole, part = (
        fit(named_cells(["Team", "Item"], [team, "Travel"]), terms, rarities, language="en")
        for team in ("Sales North", "Sales North-East")
    )
    assert whole > part > 0


def test_parts_of_a_number_with_hyphens_are_terms_of_their_own() -> None:
    terms = question_terms("What does BX-1123 cost?")
    assert any("1123" in term and "bx" not in term for term in terms)


def test_cells_keep_their_columns() -> None:
    assert split_row(" | 2024 | 2025") == ["", "2024", "2025"]
    assert split_row("| a | b |") == ["a", "b"]
    assert split_row("a|b | c") == ["a|b", "c"]


def test_rows_without_a_header_and_rows_of_one_cell() -> None:
    bare = passage("Pen | 1\nInk | 2", kind="table", anchor="rows 1–2")
    assert [candidate.text for candidate in candidates(0, bare.chunk)] == ["Pen | 1", "Ink | 2"]
    short = passage("Item | Cost\nPen | 1\nsold out\nInk | 2", kind="table", anchor="rows 2–4")
    assert [candidate.text for candidate in candidates(0, short.chunk)] == [
        "Item: Pen; Cost: 1",
        "Item: sold out",
        "Item: Ink; Cost: 2",
    ]


def test_a_first_row_with_amounts_names_no_column() -> None:
    paid = "BAIN, J | DIRECTOR | 37,499.96\nSMITH, A | CORRESPONDENT | 21,000.00"
    table = passage(paid, kind="table", anchor="p. 1")
    assert [candidate.text for candidate in candidates(0, table.chunk)] == paid.split("\n")
    years = passage("Depot | 2024 | 1.5\nUlm | 3,100 | 2", kind="table", anchor="p. 1")
    assert [candidate.text for candidate in candidates(0, years.chunk)] == ["Depot: Ulm; 2024: 3,100; 1.5: 2"]
