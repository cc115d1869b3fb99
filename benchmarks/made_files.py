"""Generated files of several formats, deterministic by seed."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

import docx
import pymupdf

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_WORDS = [
    "the",
    "a",
    "every",
    "some",
    "our",
    "their",
    "annual",
    "quarterly",
    "travel",
    "budget",
    "leave",
    "policy",
    "office",
    "manager",
    "team",
    "report",
    "request",
    "approval",
    "invoice",
    "customer",
    "contract",
    "project",
    "release",
    "server",
    "backup",
    "incident",
    "security",
    "training",
    "review",
    "meeting",
    "schedule",
    "holiday",
    "salary",
    "bonus",
    "equipment",
    "laptop",
    "account",
    "access",
    "password",
    "network",
    "update",
    "deadline",
    "delivery",
    "supplier",
    "warehouse",
    "quality",
    "measurement",
    "result",
    "must",
    "may",
    "should",
    "needs",
    "gives",
    "takes",
    "checks",
    "signs",
    "sends",
    "keeps",
    "reads",
    "writes",
    "asks",
    "pays",
    "books",
    "plans",
    "before",
    "after",
    "during",
    "without",
    "within",
    "under",
    "above",
    "between",
    "first",
    "second",
    "third",
    "new",
    "old",
    "written",
    "digital",
    "monthly",
    "weekly",
    "urgent",
    "optional",
    "internal",
    "external",
    "final",
]


def write_files(folder: Path, *, count: int, seed: int, longest: int = 40) -> None:
    """`count` files of up to `longest` paragraphs, most of them short."""
    for number in range(count):
        suffix, write = _FORMATS[number % len(_FORMATS)]
        chance = random.Random(f"{seed}-{number}")
        paragraphs = [
            sentences(chance, chance.randint(2, 7)) for _ in range(1 + int(longest * chance.random() ** 2))
        ]
        write(folder / f"{number:04}-{chance.choice(_WORDS)}.{suffix}", paragraphs)


def long_pdf(path: Path, *, pages: int, seed: int = 7) -> None:
    """A book of `pages` full pages with headings, paragraphs, running heads and page numbers."""
    chance = random.Random(seed)
    with pymupdf.open() as pdf:
        for number in range(1, pages + 1):
            page = pdf.new_page()
            page.insert_text((60, 40), "Handbook of the office", fontsize=8)
            page.insert_text((290, 815), str(number), fontsize=8)
            if number % 5 == 1:
                page.insert_text((60, 75), f"{number // 5 + 1} {sentences(chance, 1)[:40]}", fontsize=16)
            text = "\n\n".join(sentences(chance, 5) for _ in range(6))
            page.insert_textbox((60, 90, 540, 790), text, fontsize=10)
        pdf.save(path, deflate=True)


def sentences(chance: random.Random, count: int) -> str:
    return " ".join(
        " ".join(chance.choices(_WORDS, k=chance.randint(8, 20))).capitalize() + "." for _ in range(count)
    )


def _text(path: Path, paragraphs: list[str]) -> None:
    path.write_text("\n\n".join(paragraphs), encoding="utf-8")


def _markdown(path: Path, paragraphs: list[str]) -> None:
    parts = [f"## {text.split('.')[0][:40]}\n\n{text}" for text in paragraphs]
    path.write_text(f"# {path.stem}\n\n" + "\n\n".join(parts), encoding="utf-8")


def _html(path: Path, paragraphs: list[str]) -> None:
    body = "".join(f"<p>{text}</p>" for text in paragraphs)
    page = f"<html><head><title>{path.stem}</title></head><body><h1>{path.stem}</h1>{body}</body></html>"
    path.write_text(page, encoding="utf-8")


def _csv(path: Path, paragraphs: list[str]) -> None:
    rows = [f"{number},{text[:60]},{number * 7}" for number, text in enumerate(paragraphs)]
    path.write_text("\n".join(["number,subject,amount", *rows]), encoding="utf-8")


def _json(path: Path, paragraphs: list[str]) -> None:
    entries = [{"title": text[:40], "body": text} for text in paragraphs]
    path.write_text(json.dumps(entries, indent=1), encoding="utf-8")


def _python(path: Path, paragraphs: list[str]) -> None:
    functions = [
        f'def step_{number}(value):\n    """{text[:70]}"""\n    result = value + {number}\n    return result\n'
        for number, text in enumerate(paragraphs)
    ]
    path.write_text("\n\n".join(functions), encoding="utf-8")


def _pdf(path: Path, paragraphs: list[str]) -> None:
    with pymupdf.open() as pdf:
        for start in range(0, len(paragraphs), 4):
            page = pdf.new_page()
            page.insert_textbox((60, 60, 540, 780), "\n\n".join(paragraphs[start : start + 4]), fontsize=10)
        pdf.save(path)


def _word(path: Path, paragraphs: list[str]) -> None:
    document = docx.Document()
    document.add_heading(path.stem, level=1)
    for text in paragraphs:
        document.add_paragraph(text)
    document.save(str(path))


_FORMATS: tuple[tuple[str, Callable[[Path, list[str]], None]], ...] = (
    ("txt", _text),
    ("md", _markdown),
    ("html", _html),
    ("csv", _csv),
    ("json", _json),
    ("py", _python),
    ("pdf", _pdf),
    ("docx", _word),
)
