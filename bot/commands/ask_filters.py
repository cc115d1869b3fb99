from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bot.port import Option
from rag_engine.agent.request import OPTION as TOOLS
from rag_engine.retrieval.whole_files import OPTION as FULL
from rag_engine.tables.answers.requests import CHART
from rag_engine.tables.answers.requests import OPTION as TABLE
from rag_engine.web.request import OPTION

if TYPE_CHECKING:
    from collections.abc import Mapping

OPTIONS: Final = (
    Option(name="file", description="Search only files with this in their name", named=True, suggested=True),
    Option(name="type", description="Search only files of this type: pdf, sheet, mail", named=True),
    Option(name="after", description="Search only files since this day: 2025-01-31", named=True),
    Option(name="tag", description="Search only files with this tag", named=True, suggested=True),
    Option(name="web", description="Read pages of the web too", choices=("yes",), named=True),
    Option(name="full", description="Read whole files, not only passages", choices=("yes",), named=True),
    Option(name="chart", description="Draw the computed answer", choices=("yes",), named=True),
    Option(name="table", description="Compute the answer over tables", choices=("yes",), named=True),
    Option(
        name="tools",
        description="Let the language model call tools, where they are on",
        choices=("yes",),
        named=True,
    ),
)
_KEYS: Final[Mapping[str, str]] = {"file": "name", "type": "type", "after": "after", "tag": "tag"}
_SEVERAL: Final = frozenset({"type", "tag"})
_QUOTES: Final = ('""', "''", "“”")


def filtered_question(values: Mapping[str, str]) -> str:
    """Filters as typed, so that they are stored."""
    filters = [
        f"{key}:{_quoted(value)}"
        for option, key in _KEYS.items()
        for value in (values.get(option, "").split(",") if option in _SEVERAL else [values.get(option, "")])
        if value.strip()
    ]
    web = [OPTION] if values.get("web") else []
    full = [FULL] if values.get("full") else []
    table = [TABLE] if values.get("table") else []
    table += [CHART] if values.get("chart") else []
    tools = [TOOLS] if values.get("tools") else []
    return " ".join((values.get("question", ""), *filters, *web, *full, *table, *tools))


def _quoted(value: str) -> str:
    line = " ".join(value.split())
    first, last = next((pair for pair in _QUOTES if not {*pair} & {*line}), _QUOTES[0])
    return f"{first}{line.replace(first, ' ')}{last}"
