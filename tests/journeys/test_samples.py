"""What a newcomer does with the samples: ask, search, look at what is in, see how an answer came about."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from rag_engine.parsing.sandbox import offered

if TYPE_CHECKING:
    from pathlib import Path

    from tests.journeys.conftest import Footnote

# Question, what the answer must say, the file it must be cited to, the place in it.
QUESTIONS = [
    ("How many days of leave do I have, and who approves them?", "28", "handbook.pdf", "p. 3"),
    ("How many days of annual leave do employees get?", "28", "handbook.pdf", "p. 3"),
    ("What is the maximum price for accommodation per night?", "140", "expenses.md", "§ Hotels"),
    ("In what wind do we put off a field trip?", "6 Beaufort", "handbook.pdf", "p. 7"),
    ("How much may a hotel room cost in a capital city?", "180", "expenses.md", "§ Hotels"),
    ("What does error E-417 mean?", "tide data", "incident-runbook.html", ""),
    ("Wie viele Personen dürfen im Mai gleichzeitig Urlaub haben?", "vier", "urlaubsregelung.md", ""),
    ("密码至少需要多少个字符？", "14", "it-安全指南.md", ""),
]


@pytest.mark.parametrize(("question", "said", "title", "place"), QUESTIONS)
async def test_an_answer_leads_to_its_source(
    samples: Footnote, question: str, said: str, title: str, place: str
) -> None:
    finished = await samples("ask", question, "--json")
    assert finished.code == 0, finished.err
    answer = json.loads(finished.out)
    assert said in answer["answer"]
    assert answer["grounded"] is True
    cited = [citation for citation in answer["citations"] if citation["title"] == title]
    assert cited, answer["citations"]
    assert any(citation["anchor"].startswith(place) for citation in cited)
    assert {"number", "title", "anchor", "uri", "quote"} == set(cited[0])
    numbers = {citation["number"] for citation in answer["citations"]}
    assert numbers == set(range(1, len(numbers) + 1))
    assert all(f"[{number}]" in answer["answer"] for number in numbers)


async def test_every_quote_is_in_the_document_as_it_was_read(samples: Footnote) -> None:
    answer = json.loads((await samples("ask", "When are the core hours?", "--json")).out)
    for citation in answer["citations"]:
        shown = await samples("kb", "show", "samples", citation["title"], "--text")
        assert citation["quote"] in shown.out


async def test_a_question_without_an_answer_is_not_given_one(samples: Footnote) -> None:
    answer = json.loads((await samples("ask", "What is the boiling point of tungsten?", "--json")).out)
    assert answer["citations"] == []
    assert answer["grounded"] is False
    assert "samples" in answer["answer"]


@pytest.mark.parametrize(("text", "reply"), [("hi", "Ask me about the files"), ("Danke!", "Gern geschehen")])
async def test_a_greeting_and_thanks_are_not_searched(samples: Footnote, text: str, reply: str) -> None:
    answer = json.loads((await samples("ask", text, "--json")).out)
    assert reply in answer["answer"]
    assert answer["citations"] == []


async def test_piped_questions_are_answered_with_plain_sources(samples: Footnote) -> None:
    finished = await samples("chat", stdin="In what wind do we put off a field trip?\n/quit\n")
    assert finished.code == 0, finished.err
    assert "6 Beaufort" in finished.out
    assert "[1] handbook.pdf — p. 7" in finished.out
    assert "\x1b" not in finished.out


async def test_search_shows_where_each_passage_came_from(samples: Footnote) -> None:
    rows = json.loads((await samples("search", "hotel room", "--limit", "3", "--json")).out)
    assert [row["rank"] for row in rows] == [1, 2, 3]
    assert set(rows[0]) == {"rank", "document", "title", "anchor", "score", "legs", "text"}
    assert rows[0]["title"] == "expenses.md"
    assert {leg["leg"] for leg in rows[0]["legs"]} == {"lexical", "dense"}
    only = json.loads((await samples("search", "hotel room", "--legs", "lexical", "--json")).out)
    assert {leg["leg"] for row in only for leg in row["legs"]} == {"lexical"}


async def test_the_trace_shows_how_an_answer_came_about(samples: Footnote) -> None:
    answer = json.loads((await samples("ask", "Who is the ombudsperson?", "--json")).out)
    trace = json.loads((await samples("trace", answer["turn"][:8], "--json")).out)
    assert trace["turn"] == answer["turn"]
    assert trace["details"]["question"] == "Who is the ombudsperson?"
    assert {"retrieve", "fuse", "pack", "answer"} <= set(trace["seconds"])
    assert trace["details"]["passages"][0]["legs"]
    assert trace["details"]["model"] == "extractive"


async def test_the_lists_have_the_shape_that_scripts_depend_on(samples: Footnote) -> None:
    (base,) = json.loads((await samples("kb", "list", "--json")).out)
    assert base["name"] == "samples"
    assert base["documents"] == 7
    assert base["model"] == "all-MiniLM-L6-v2@fp32"
    documents = json.loads((await samples("kb", "show", "samples", "--json")).out)
    assert {row["title"] for row in documents} >= {"handbook.pdf", "it-安全指南.md"}
    assert all(row["state"] == "ready" and row["chunks"] > 0 for row in documents)
    assert next(row for row in documents if row["title"] == "handbook.pdf")["pages"] == 8


async def test_the_doctor_finds_a_healthy_installation(samples: Footnote) -> None:
    finished = await samples("doctor", "--json")
    assert finished.code == 0, finished.out
    states = {row["check"]: row["state"] for row in json.loads(finished.out)}
    assert states["embedder and index"] == "ok"
    assert states["language model"] == "note"
    details = {row["check"]: row["detail"] for row in json.loads(finished.out)}
    assert f"sandboxed by {offered()}" in details["reading of files"]


async def test_every_prompt_rule_has_an_id(samples: Footnote) -> None:
    rows = json.loads((await samples("prompts", "answer", "--json")).out)
    identities = [row["id"] for row in rows]
    assert {"unknown", "clarify", "language", "cite_only_sources", "no_tags"} <= set(identities)
    assert len(identities) == len(set(identities))


async def test_without_a_model_an_answer_cannot_be_written_again(samples: Footnote) -> None:
    finished = await samples("chat", stdin="How much may a hotel room cost?\nin German\n/quit\n")
    assert finished.out.rstrip().endswith(
        "Writing an answer again needs a language model, and none is set up here."
    )


async def test_a_question_that_only_comes_close_is_forgotten_with_the_document(
    footnote: Footnote, tmp_path: Path
) -> None:
    (tmp_path / "hotels.md").write_text("# Hotels\n\nA room may cost 140 euros a night.\n", encoding="utf-8")
    await footnote("add", "hotels.md", "--kb", "staff")
    asked = json.loads((await footnote("ask", "Who painted the snickersnee in 1842?", "--json")).out)
    assert "hotels.md" in asked["answer"]
    assert asked["citations"] == []
    trace = json.loads((await footnote("trace", "--json")).out)
    assert {passage["title"] for passage in trace["details"]["closest"]} == {"hotels.md"}
    assert (await footnote("forget", "document", "staff", "hotels.md", "--yes")).code == 0
    left = [
        path
        for path in (tmp_path / "data").rglob("*")
        if path.is_file() and b"snickersnee" in path.read_bytes()
    ]
    assert left == []
