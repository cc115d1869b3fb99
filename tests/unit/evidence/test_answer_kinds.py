from __future__ import annotations

import pytest

from rag_engine.evidence.answer_kinds import asked_kind, holds


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When did the ship leave?", "date"),
        ("In welchem Jahr wurde sie gebaut?", "date"),
        ("¿Cuántos habitantes tiene?", "number"),
        ("这座桥有多少米？", "number"),
        ("Who wrote the handbook?", "person"),
        ("What was the price of the ferry?", "money"),
        ("Was kostet die Überfahrt?", "money"),
        ("Wie lange dauert die Fahrt?", "duration"),
        ("How much paid leave do I get?", "duration"),
        ("How much does leave without pay cost?", "money"),
        ("¿Qué porcentaje votó?", "percentage"),
        ("What is the fax number of the office?", "telephone"),
        ("What is the e-mail address of the office?", "address"),
        ("Why is the sky blue?", ""),
        ("Since when is it open, and when did it close?", "date"),
        ("What does the machine do when a trace is taken?", ""),
        ("Wann heißt ein Raum kompakt?", ""),
        ("Wie hoch ist der Salzgehalt der Sole?", "number"),
        ("Wie hoch ist das Gehalt?", "money"),
        ("How tall is the lighthouse?", "length"),
        ("How far is it from the station?", "length"),
        ("这座桥有多高？", "length"),
        ("Wie schwer ist die Pumpe?", "weight"),
        ("¿Cuánto pesa el motor?", "weight"),
        ("Wie heiß war der Ofen?", "temperature"),
        ("At what temperature does it melt?", "temperature"),
        ("长时间的增长与什么有关?", ""),
        ("What low budget film did he make?", ""),
    ],
)
def test_the_kind_of_answer(question: str, kind: str) -> None:
    assert asked_kind(question) == kind


@pytest.mark.parametrize(
    ("kind", "passage", "question", "held"),
    [
        ("date", "It left on 3 May.", "When did it leave?", True),
        ("date", "It left in 1912.", "When in 1912 did it leave?", False),
        ("number", "There are twelve.", "How many?", True),
        ("number", "There are some.", "How many?", False),
        ("person", "Written by Ada Lovelace.", "Who wrote it?", True),
        ("person", "it was written by somebody.", "Who wrote it?", False),
        ("person", "The harbour is closed.", "Who closed it?", False),
        ("money", "It costs 5 euros.", "What does it cost?", True),
        ("money", "It was built in 1912.", "What did it cost?", False),
        ("duration", "The trip takes 25 minutes.", "How long does it take?", True),
        ("duration", "Platform 25 is closed.", "How long does it take?", False),
        ("percentage", "Salt makes up 27 Prozent.", "Welcher Anteil?", True),
        ("percentage", "There are 27 pans.", "Welcher Anteil?", False),
        ("date", "By the fourth week you have access.", "When do I get access?", True),
        ("telephone", "Call +49 4711 220.", "What is the phone number?", True),
        ("telephone", "Room 220.", "What is the phone number?", False),
        ("address", "Write to office@example.org.", "What is the e-mail address?", True),
        ("address", "Write to the office.", "What is the e-mail address?", False),
        ("length", "The tower measures 40 metres.", "How tall is it?", True),
        ("length", "The tower has 40 rooms.", "How tall is it?", False),
        ("weight", "Die Pumpe wiegt 68 kg.", "Wie schwer ist sie?", True),
        ("weight", "Die Pumpe fördert 68 Liter.", "Wie schwer ist sie?", False),
        ("temperature", "Il fond à 30 °C.", "At what temperature?", True),
        ("temperature", "The oven is 30 years old.", "How hot is the oven?", False),
        ("", "Anything.", "Why?", True),
    ],
)
def test_what_the_question_says_itself_is_no_answer(
    kind: str, passage: str, question: str, held: bool
) -> None:
    assert holds(kind, passage, question) is held  # pyright: ignore[reportArgumentType]


def test_the_units_of_a_table_may_be_elsewhere() -> None:
    assert not holds("money", "Ferry | 25", "What does it cost?")
    assert holds("money", "Ferry | 25", "What does it cost?", units=False)
