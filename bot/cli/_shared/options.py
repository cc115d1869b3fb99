from __future__ import annotations

import argparse
from pathlib import Path


def add_knowledge_bases(parser: argparse.ArgumentParser) -> None:
    """`--kb NAME`, repeatable, as `kb`: a list of names, empty for all."""
    parser.add_argument(
        "--kb",
        "--scope",
        dest="kb",
        action="append",
        default=[],
        metavar="NAME",
        help="a knowledge base to look in; may be repeated (all)",
    )


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
