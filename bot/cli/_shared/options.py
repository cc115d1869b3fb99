from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from rag_engine.errors import InvalidFilter
from rag_engine.metadata.conditions import filter_of

if TYPE_CHECKING:
    from rag_engine.metadata.filter_types import Filter


def add_knowledge_bases(parser: argparse.ArgumentParser) -> None:
    """Repeatable; empty for all."""
    parser.add_argument(
        "--kb",
        "--scope",
        dest="kb",
        action="append",
        default=[],
        metavar="NAME",
        help="a knowledge base to look in; may be repeated (all)",
    )


def add_filters(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--filter",
        action="append",
        type=_filter,
        default=[],
        metavar="FILTER",
        help="only files with these properties, such as type:pdf or 'author contains anna'; may be repeated",
    )


def _filter(text: str) -> Filter:
    try:
        return filter_of(text)
    except InvalidFilter as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def add_json(parser: argparse.ArgumentParser, shape: str) -> None:
    """`shape` describes what it prints."""
    parser.add_argument("--json", action="store_true", help=f"print JSON: {shape}")


def path(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("an empty path names no file")
    return Path(text)


def positive(text: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number
