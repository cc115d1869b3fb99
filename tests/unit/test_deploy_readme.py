"""What deploy/README.md tells an operator is what the program says, counts and was measured to need."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from rag_engine.indexes.elasticsearch import errors

PROJECT = Path(__file__).parents[2]
README = (PROJECT / "deploy" / "README.md").read_text(encoding="utf-8")
WORDS = " ".join(README.split())
PACKAGE = PROJECT / "rag_engine" / "indexes" / "elasticsearch"


def said_by_the_program() -> str:
    """Every text for operators in the sources, with … for what is put in."""
    texts: list[str] = []
    for path in (
        *PACKAGE.glob("*.py"),
        PROJECT / "bot/cli/operation/doctor.py",
        PROJECT / "bot/data_directory/index_lock.py",
    ):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.append(node.value)
            elif isinstance(node, ast.JoinedStr):
                pieces = (getattr(piece, "value", None) for piece in node.values)
                texts.append("".join(piece if isinstance(piece, str) else "…" for piece in pieces))
    return "\n".join(texts)


def test_the_sentences_are_the_programs_own() -> None:
    explained = README[README.index("## What the sentences mean") : README.index("## The bot alone")]
    first = [line.split("|")[1].strip() for line in explained.splitlines() if line.startswith("| ")]
    sentences = [cell for cell in first if cell not in {"---", "Sentence"}]
    sentences += re.findall(r'"((?:The index of|the elasticsearch index holds)[^"]*)"', WORDS)
    assert len(sentences) > len(errors._SENTENCES) + 8
    said = said_by_the_program()
    for sentence in sentences:
        pieces = [piece.strip(" ();") for piece in sentence.split("…")]
        assert all(piece in said or "elasticsearch index" in piece for piece in pieces), sentence


def test_every_reason_is_explained() -> None:
    rows = [[cell.strip() for cell in line.split("|")] for line in README.splitlines()]
    explained = {row[2].strip("`"): row[1] for row in rows if len(row) == 6 and row[2].startswith("`")}
    assert {reason: str(errors.unavailable(reason)) for reason in errors._SENTENCES} == {
        reason: explained.get(reason) for reason in errors._SENTENCES
    }


def test_the_counters_named_are_counted() -> None:
    counted = "".join(
        path.read_text(encoding="utf-8") for path in (PROJECT / "bot/observability/metrics").glob("*.py")
    )
    named = re.findall(r"(footnote_\w+)_total", README)
    assert named
    assert all(f'"{name}"' in counted for name in named)


def test_the_sizes_are_computed_from_the_measured_bytes() -> None:
    rows = [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in README.splitlines()]
    sizes = {row[0]: row[1:] for row in rows if len(row) in {2, 4}}
    measured = {name: int(cells[0].replace(",", "")) for name, cells in sizes.items() if _is_number(cells[0])}
    merged, written = measured["merged"], measured["just written"]
    names = ("vector: ", "`_source`", "words", "ids and keywords")
    vector, source, words, ids = (
        next(value for each, value in measured.items() if each.startswith(name)) for name in names
    )
    assert merged == vector + source + words + ids
    recovery = measured["until the next merge, the source once more for recovery"]
    assert written == merged + recovery
    at_least = next(value for name, value in measured.items() if name.startswith("read by every search"))
    all_of_it = next(value for name, value in measured.items() if name.startswith("read by any search"))
    assert (at_least, all_of_it) == (455 + words, vector + words)
    numbers = (1e5, 1e6, 1e7)
    copies = [(n * (merged + written) + min(n * merged, 5e9)) / 0.85 for n in numbers]
    expected = {
        f"merged: n × {merged:,}": [n * merged for n in numbers],
        f"just written: n × {written:,}": [n * written for n in numbers],
        "disk of one copy": copies,
        "disk with one replica": [2 * each for each in copies],
        f"memory for files, at least: n × {at_least:,}": [n * at_least for n in numbers],
        f"memory for files, so that no search reads the disk: n × {all_of_it:,}": [
            n * all_of_it for n in numbers
        ],
        "volume `data` of the bot: n × (2,152 + 890)": [n * (2_152 + 890) for n in numbers],
    }
    for row, computed in expected.items():
        told = [float(cell.removesuffix(" GB")) for cell in sizes[row]]
        assert told == pytest.approx([each / 1e9 for each in computed], rel=0.07), row


def _is_number(cell: str) -> bool:
    return bool(re.fullmatch(r"\d[\d,]*", cell))
