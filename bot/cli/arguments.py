"""The command line as data: what each command takes and how its help teaches it. Imports nothing heavy."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from bot.access import DEFAULT_KNOWLEDGE_BASE

if TYPE_CHECKING:
    from collections.abc import Callable


_EPILOG = """first steps:
  footnote add handbook.pdf notes/        read files and folders into a knowledge base
  footnote ask "Who approves travel?"     one answer, with numbered sources
  footnote chat                           ask, and ask on

settings come from the environment and .env: OPENAI_API_KEY or OPENAI_BASE_URL with FOOTNOTE_MODEL__NAME for a
language model (without one the best sentences are quoted), FOOTNOTE_DATA_DIR for where everything is kept.
`footnote doctor` says what is missing."""

_AddParser: TypeAlias = "Callable[..., argparse.ArgumentParser]"
"""The method of that name of what `add_subparsers` returns; argparse has no public name for its type."""


def build() -> argparse.ArgumentParser:
    """The whole command line."""
    parser = argparse.ArgumentParser(
        prog="footnote",
        description="Answers from your files, with numbered citations anyone can check.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="print the version and leave")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for add in (
        _run,
        _chat,
        _ask,
        _search,
        _add,
        _knowledge_base,
        _trace,
        _prompts,
        _eval,
        _setup,
        _doctor,
        _backup,
        _restore,
        _forget,
    ):
        add(commands.add_parser)
    return parser


def _command(add_parser: _AddParser, name: str, *, summary: str, example: str) -> argparse.ArgumentParser:
    return add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog="example:\n" + "\n".join("  " + line for line in example.splitlines()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _run(add_parser: _AddParser) -> None:
    _command(
        add_parser,
        "run",
        summary="start every platform whose settings are present, else the console",
        example="footnote run",
    )


def _chat(add_parser: _AddParser) -> None:
    parser = _command(
        add_parser,
        "chat",
        summary="ask in the terminal, answers streamed with citations",
        example='footnote chat\necho "How many days of leave do I have?" | footnote chat',
    )
    _with_knowledge_bases(parser)
    parser.add_argument(
        "--conversation", default="", metavar="NAME", help="go on with the conversation of that name"
    )


def _ask(add_parser: _AddParser) -> None:
    parser = _command(
        add_parser,
        "ask",
        summary="one answer",
        example='footnote ask "Who approves travel?" --kb handbook\nfootnote ask "Who approves travel?" --json',
    )
    parser.add_argument("question", metavar="QUESTION", help="the question; - reads it from standard input")
    _with_knowledge_bases(parser)
    _with_json(parser, "{answer, citations: [{number, title, anchor, uri, quote}], turn, grounded, timings}")


def _search(add_parser: _AddParser) -> None:
    parser = _command(
        add_parser,
        "search",
        summary="retrieval only: the passages an answer would be made from",
        example="footnote search 'travel approval' --limit 5 --legs lexical,dense --json",
    )
    parser.add_argument("query", metavar="QUERY")
    _with_knowledge_bases(parser)
    parser.add_argument("--limit", type=_positive, default=10, metavar="N", help="how many passages (10)")
    parser.add_argument(
        "--legs",
        type=_legs,
        default=("lexical", "dense"),
        metavar="LEGS",
        help="lexical, dense or lexical,dense (both)",
    )
    _with_json(parser, "[{rank, document, title, anchor, score, legs: [{leg, rank, score}], text}]")


def _add(add_parser: _AddParser) -> None:
    parser = _command(
        add_parser,
        "add",
        summary="read files and folders into a knowledge base; safe to interrupt and repeat",
        example="footnote add handbook.pdf notes/ --kb handbook",
    )
    parser.add_argument(
        "paths", nargs="+", type=_path, metavar="PATH", help="a file, or a folder with all that is in it"
    )
    parser.add_argument(
        "--kb", default=DEFAULT_KNOWLEDGE_BASE, metavar="NAME", help=f"made if new ({DEFAULT_KNOWLEDGE_BASE})"
    )
    parser.add_argument(
        "--again", action="store_true", help="read also what was set aside because it ended the program"
    )


def _knowledge_base(add_parser: _AddParser) -> None:
    parser = _command(
        add_parser,
        "kb",
        summary="administer knowledge bases",
        example="footnote kb list --json\nfootnote kb show handbook handbook.pdf --text",
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions", required=True)
    listing = actions.add_parser("list", help="all knowledge bases")
    _with_json(listing, "[{name, documents, chunks, model}]")
    show = actions.add_parser("show", help="the documents of one, or one document")
    show.add_argument("name", metavar="NAME")
    show.add_argument(
        "document", metavar="DOCUMENT", nargs="?", default="", help="a title, or an id or its beginning"
    )
    show.add_argument(
        "--text", action="store_true", help="the document as it was read, a heading line per anchor"
    )
    _with_json(show, "[{id, title, media_type, state, reason, chunks, pages}]")
    remove = actions.add_parser("remove", help="remove one, or one document of it")
    remove.add_argument("name", metavar="NAME")
    remove.add_argument("document", metavar="DOCUMENT", nargs="?", default="")
    remove.add_argument("--yes", action="store_true", help="do not ask first")
    reindex = actions.add_parser("reindex", help="split and embed again from the text as it was read")
    reindex.add_argument(
        "name", metavar="NAME", nargs="?", default="", help="one; without it all, into a fresh index"
    )
    reindex.add_argument("--all", action="store_true", help="the same as no name")
    export = actions.add_parser("export", help="write one to a file, vectors included")
    export.add_argument("name", metavar="NAME")
    export.add_argument("file", metavar="FILE.zip", type=Path)
    import_ = actions.add_parser("import", help="take an exported one back without embedding it again")
    import_.add_argument("file", metavar="FILE.zip", type=Path)
    import_.add_argument("--name", default="", metavar="NAME", help="under another name")


def _trace(add_parser: _AddParser) -> None:
    parser = _command(
        add_parser,
        "trace",
        summary="what happened in a turn",
        example="footnote trace\nfootnote trace 3f9a --json",
    )
    parser.add_argument(
        "turn", metavar="TURN", nargs="?", default="", help="its id or the beginning; without it the newest"
    )
    _with_json(parser, "everything")


def _prompts(add_parser: _AddParser) -> None:
    parser = _command(
        add_parser, "prompts", summary="the prompt rules, each with an id", example="footnote prompts answer"
    )
    parser.add_argument("task", metavar="TASK", nargs="?", default="", help="the rules of one task")
    _with_json(parser, "[{task, id, text}]")


def _eval(add_parser: _AddParser) -> None:
    parser = _command(
        add_parser,
        "eval",
        summary="retrieval figures on a judged folder (corpus.jsonl, queries.jsonl, qrels.tsv, each also .gz)",
        example="footnote eval data/scifact --json",
    )
    parser.add_argument("folder", metavar="DIR", type=Path)
    parser.add_argument("--index", default="", metavar="KIND", help="embedded or elasticsearch (the setting)")
    _with_json(
        parser, "{documents, chunks, queries, seconds, lexical: {ndcg@10, …}, dense: {…}, hybrid: {…}}"
    )


def _setup(add_parser: _AddParser) -> None:
    parser = _command(
        add_parser,
        "setup",
        summary="what to paste or open once, so that Slack or Discord lets the bot in",
        example="footnote setup slack > slack-manifest.yaml\nfootnote setup discord",
    )
    parser.add_argument("platform", choices=("slack", "discord"))


def _doctor(add_parser: _AddParser) -> None:
    parser = _command(
        add_parser,
        "doctor",
        summary="what is set up, what is wrong and how to mend it",
        example="footnote doctor",
    )
    _with_json(parser, "[{check, state, detail, mend}]")


def _backup(add_parser: _AddParser) -> None:
    parser = _command(
        add_parser,
        "backup",
        summary="write all that is kept to one file, while the bot runs",
        example="footnote backup footnote-$(date +%F).zip",
    )
    parser.add_argument("file", metavar="FILE.zip", type=_path, help="replaced when the backup is whole")
    _with_json(parser, "{file, databases, originals, bytes, held_seconds, missing, index}")


def _restore(add_parser: _AddParser) -> None:
    parser = _command(
        add_parser,
        "restore",
        summary="put what a backup holds into the data directory, while nothing else uses it",
        example="footnote restore footnote-2026-01-31.zip",
    )
    parser.add_argument("file", metavar="FILE.zip", type=_path)
    parser.add_argument("--replace", action="store_true", help="remove what is in the data directory now")
    _with_json(parser, "{data_dir, databases, originals, made_at}")


def _forget(add_parser: _AddParser) -> None:
    parser = _command(
        add_parser,
        "forget",
        summary="remove a person, a channel or a document from everything that is kept, and see that nothing is left",
        example="footnote forget person slack:U012AB3CD --dry-run\n"
        "footnote forget channel slack:T01:C012AB3CD\n"
        'footnote forget document handbook "Travel 2024.pdf"',
    )
    kinds = parser.add_subparsers(dest="kind", metavar="KIND", title="kinds", required=True)
    person = kinds.add_parser(
        "person", help="what somebody asked, the answers to it, and their opinions of answers"
    )
    person.add_argument(
        "who", metavar="PERSON", help="an id, PLATFORM:ID, or the name that they have in a chat"
    )
    person.add_argument("--files", action="store_true", help="the files that came with their questions, too")
    channel = kinds.add_parser("channel", help="a channel with its threads, its files and its settings")
    channel.add_argument("channel", metavar="CHANNEL", help="an id, PLATFORM:ID or PLATFORM:WORKSPACE:ID")
    document = kinds.add_parser("document", help="a document, and the answers that were made from it")
    document.add_argument("name", metavar="NAME", help="the knowledge base")
    document.add_argument(
        "document", metavar="DOCUMENT", help="a title, an id or its beginning, or an address"
    )
    for kind in (person, channel, document):
        kind.add_argument("--dry-run", action="store_true", help="only say what would go")
        kind.add_argument("--yes", action="store_true", help="do not ask first")
        _with_json(
            kind, "{subject, found: [{store, what, count}], forgotten, verified, left, bytes_in, notes}"
        )


def _with_knowledge_bases(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--kb",
        action="append",
        default=[],
        metavar="NAME",
        help="a knowledge base to look in; may be repeated (all)",
    )


def _with_json(parser: argparse.ArgumentParser, shape: str) -> None:
    parser.add_argument("--json", action="store_true", help=f"print JSON: {shape}")


def _path(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("an empty path names no file")
    return Path(text)


def _positive(text: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def _legs(text: str) -> tuple[str, ...]:
    legs = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    unknown = [leg for leg in legs if leg not in {"lexical", "dense"}]
    if unknown or not legs:
        raise argparse.ArgumentTypeError("must be lexical, dense or lexical,dense")
    return legs
