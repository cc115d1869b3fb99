from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, cast

from rag_engine import plugins

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.web.visit import Act, View

FAMILY = "bot.web.views"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedView:
    title: str
    path: str
    position: int
    show: Act
    act: Act | None = None
    operator_only: bool = False
    said: Mapping[str, str] = field(default_factory=dict[str, str])


@cache
def views() -> Mapping[str, LoadedView]:
    found = [_loaded(name) for name in plugins.modules(FAMILY)]
    return {view.path: view for view in sorted(found, key=lambda view: (view.position, view.path))}


def _loaded(name: str) -> LoadedView:
    module = importlib.import_module(f"{FAMILY}.{name}")
    view = cast("View", module)
    return LoadedView(
        title=view.TITLE,
        path=view.PATH,
        position=view.POSITION,
        show=view.show,
        act=getattr(module, "act", None),
        operator_only=getattr(module, "OPERATOR_ONLY", False),
        said=getattr(module, "SAID", {}),
    )
