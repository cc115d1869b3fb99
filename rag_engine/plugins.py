"""(family, name) -> module: ours first, then the entry point of that name in the group of that name."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
from typing import TYPE_CHECKING

from rag_engine.errors import BadSettings, MissingExtra

if TYPE_CHECKING:
    from types import ModuleType

_PROJECT = "footnote-bot"


def load(family: str, name: str, *, extra: str = "") -> ModuleType:
    """The module `family.name`, imported now and not before; `extra` brings its libraries, one of its own name by default.

    Raises `BadSettings` for a name that is no identifier or that nobody provides, `MissingExtra` when the module is there
    but a library it needs is not.
    """
    if not name.isidentifier():
        raise BadSettings(
            f"{name!r} cannot be the name of a part in {family}: use letters, digits and underscores."
        )
    full_name = f"{family}.{name}"
    if importlib.util.find_spec(full_name) is not None:
        return _import(full_name, extra=extra or name)
    for entry_point in importlib.metadata.entry_points(group=family, name=name):
        return _import(entry_point.module, extra=name)
    known = ", ".join(available(family))
    raise BadSettings(f"there is no {name!r} in {family}; known: {known}.")


def available(family: str) -> list[str]:
    """The names that `load` knows in a family, sorted."""
    import pkgutil

    package = importlib.import_module(family)
    ours = {
        module.name for module in pkgutil.iter_modules(package.__path__) if not module.name.startswith("_")
    }
    return sorted(ours | {entry_point.name for entry_point in importlib.metadata.entry_points(group=family)})


def _import(full_name: str, *, extra: str) -> ModuleType:
    try:
        return importlib.import_module(full_name)
    except ModuleNotFoundError as error:
        missing = error.name or "a library"
        if missing.partition(".")[0] == full_name.partition(".")[0]:
            raise
        hint = f"{_PROJECT}[{extra.replace('_', '-')}]"
        raise MissingExtra(
            f"{extra} needs {missing}, which is not installed: pip install '{hint}'"
        ) from error
