from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from rag_engine.metadata.properties import usable
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.metadata.filter_types import Properties


def properties_section(properties: Properties) -> Section:
    return Section(text=json.dumps(properties), kind="properties")


def stated_properties(sections: Sequence[Section]) -> Properties:
    """A hostile file's may have any shape."""
    found: dict[str, list[str]] = {}
    for section in sections:
        try:
            stated: object = json.loads(section.text)
        except (ValueError, RecursionError):
            continue
        for key, values in cast("dict[object, object]", stated if isinstance(stated, dict) else {}).items():
            listed = cast("list[object]", values if isinstance(values, list) else [])
            found[str(key)] = [value for value in listed if isinstance(value, str)]
    return usable(found)
