"""Nothing in `bot/` searches or reads knowledge bases but through a scope: a new call that does not fails here."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

BOT = Path(__file__).parents[4] / "bot"


@cache
def modules() -> dict[str, ast.Module]:
    return {
        path.relative_to(BOT).as_posix(): ast.parse(path.read_text("utf-8"))
        for path in sorted(BOT.rglob("*.py"))
    }


SCOPES = {"access/permissions.py", "access/audience.py"}
"""Where scopes are made: for the operator at the console, and for everybody in chat."""

OWN_CORPUS = {"cli/quality/_eval_answers.py"}
"""What asks an index that it has made for itself."""

READERS = {
    # Forgetting is the operator's, who has everything.
    "scan": {"maintenance/erasure/*"},
    "Search": set[str](),
    "sections": {
        "cli/quality/_eval_feedback.py",  # the console, for the operator alone
        "maintenance/reindex.py",
        "cli/knowledge/kb.py",
        "cli/knowledge/_kb/changes.py",
        "conversation/sources/sources_view.py",
        "conversation/explanation/explanation_view.py",  # of documents in a scope of the person
        "maintenance/erasure/*",
        "server/readers.py",  # of documents in the scope of a key (test_server)
        "cli/answers/mindmap.py",
        "commands/mind_map.py",  # of a document that the person may read (test_mind_map)
        "web/traces.py",  # of documents that the visitor may read (web/test_views)
        "web/views/documents.py",  # the same
    },
    "find_by_id": {"web/views/documents.py"},  # the same
    "records": {
        "composition/components.py",  # to remove what was kept of files
        "maintenance/erasure/*",
        "maintenance/reindex.py",
        "cli/knowledge/kb.py",
        "cli/knowledge/_kb/changes.py",
        "cli/operation/doctor.py",
        "commands/kb/list.py",
        "commands/kb/contents.py",
        "commands/kb/filters.py",  # of a knowledge base that the person may know
        "conversation/newcomers/first_steps.py",  # the titles in a scope of the person
        "cli/quality/_eval_feedback.py",
        "cli/quality/feedback.py",  # the console, for the operator alone
        "server/readers.py",  # in the scope of a key (test_server)
        "composition/layers/expansion.py",  # of a knowledge base that the person administers
        "composition/layers/graph.py",  # of a knowledge base that the person administers
        "cli/answers/mindmap.py",
        "commands/mind_map.py",  # of what the person may read (test_mind_map)
        "cli/operation/_setup/wizard.py",  # the operator at the terminal, who is shown their number
    },
    "knowledge_bases": {
        "access/permissions.py",
        "access/operator_access.py",  # the console, for the operator alone
        "access/audience.py",
        "composition/chat_service.py",
        "composition/application.py",
        "maintenance/erasure/*",
        "maintenance/reindex.py",
        "cli/knowledge/add.py",
        "cli/operation/doctor.py",
        "cli/quality/feedback.py",
        "cli/knowledge/kb.py",
        "cli/knowledge/_kb/changes.py",
        "cli/knowledge/_kb/expansion.py",
        "cli/knowledge/source.py",  # the operator at the terminal
        "cli/knowledge/sync.py",
        "cli/knowledge/verified.py",
        "cli/knowledge/_kb/graph.py",
        "cli/operation/_setup/wizard.py",
        "web/known_bases.py",  # each is checked before it is named (web/test_views)
    },
}
"""Who may call what reads a knowledge base by its id. A new caller needs a test that shows who sees the result."""


def calls(tree: ast.Module) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def unfiltered(tree: ast.Module) -> list[int]:
    """Lines with a question whose knowledge bases are not those of a scope."""
    lines: list[int] = []
    for call in calls(tree):
        if called(call) != "Query":
            continue
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        value = given.get("knowledge_bases")
        if not (isinstance(value, ast.Attribute) and value.attr == "knowledge_bases" and None not in given):
            lines.append(call.lineno)
    return lines


def changed(tree: ast.Module) -> list[int]:
    """Lines on which the knowledge bases of a value are replaced."""
    return [
        call.lineno
        for call in calls(tree)
        if ast.unparse(call.func) in ("replace", "dataclasses.replace")
        and any(keyword.arg == "knowledge_bases" for keyword in call.keywords)
    ]


def test_every_question_looks_in_a_scope_and_in_nothing_else() -> None:
    for module, tree in modules().items():
        assert module in OWN_CORPUS or not unfiltered(tree), (
            f"{module}: a Query takes `knowledge_bases` from a Scope as it is"
        )
        assert not changed(tree), f"{module}: nobody widens a question afterwards"


def test_scopes_are_made_in_two_places_only() -> None:
    for module in sorted(modules().keys() - SCOPES):
        lines = [call.lineno for call in calls(modules()[module]) if called(call) == "Scope"]
        assert not lines, (
            f"{module}: a Scope comes from bot.access.audience (chat) or bot.access.permissions (the console)"
        )


def test_knowledge_bases_are_read_by_those_who_are_known_to() -> None:
    for module, tree in modules().items():
        folder = f"{Path(module).parent.as_posix()}/*"
        for call in calls(tree):
            known = READERS.get(called(call))
            assert known is None or module in known or folder in known, (
                f"{module}, line {call.lineno}: `{called(call)}` reads without asking who reads the reply"
            )


@pytest.mark.parametrize(
    "source",
    [
        "Query(text=text, knowledge_bases=everything)",
        "Query(text=text, knowledge_bases=frozenset({base}))",
        "Query(text=text, knowledge_bases=scope.knowledge_bases | more)",
        "Query(**values)",
        "Query(text=text)",
    ],
)
def test_a_search_without_its_filter_would_be_found(source: str) -> None:
    assert unfiltered(ast.parse(source))


def test_something_is_looked_at() -> None:
    found = [module for module, tree in modules().items() for call in calls(tree) if called(call) == "Query"]
    assert len(found) >= 3
