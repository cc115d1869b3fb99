"""Parts by family and name: a module of our package `family`, else the entry point `name` in the group `family`.

A family may list folders of modules in `FOLDERS`; they are no part of a name.
"""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.abc
import importlib.metadata
import importlib.util
import sys
from typing import TYPE_CHECKING

from rag_engine.errors import BadSettings, MissingExtra

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType

_PROJECT = "footnote-bot"
_INCOMPLETE = object()


def load(family: str, name: str, *, extra: str = "") -> ModuleType:
    """`extra` installs the libraries; by default it has the module's name.

    Raises `BadSettings` for an unknown name, `MissingExtra` if a library is not installed.
    """
    if not name.isidentifier():
        raise BadSettings(
            f"{name!r} cannot be the name of a part in {family}: use letters, digits and underscores."
        )
    if (spec := _own(family, name)) is not None:
        return _import(spec.name, extra=extra or name)
    for entry_point in _entry_points(family).select(name=name):
        return _import(entry_point.module, extra=name)
    known = ", ".join(available(family))
    raise BadSettings(f"there is no {name!r} in {family}; known: {known}.")


def available(family: str) -> list[str]:
    return sorted({*modules(family), *(entry_point.name for entry_point in _entry_points(family))})


def modules(family: str) -> list[str]:
    """Names that need no entry point, sorted. Imports only the package."""
    import pkgutil

    folders = _folders(family)
    return sorted(
        module.name
        for module in pkgutil.iter_modules(search_path(family))
        if not module.name.startswith("_") and module.name not in folders
    )


def search_path(family: str) -> tuple[str, ...]:
    return tuple(path for package in _packages(family) for path in importlib.import_module(package).__path__)


def declarations(family: str, name: str, *constants: str) -> dict[str, object]:
    """Literals at the top of a part's module, read from its source without importing it."""
    found: dict[str, object] = {}
    lines = iter(_source(family, name).splitlines())
    for line in lines:
        constant = line.partition("=")[0].partition(":")[0].strip()
        if constant not in constants or line[:1].isspace():
            continue
        statement = line
        while (value := _literal(statement)) is _INCOMPLETE:
            statement += "\n" + next(lines)
        found[constant] = value
    return found


def _folders(family: str) -> tuple[str, ...]:
    return getattr(importlib.import_module(family), "FOLDERS", ())


def _packages(family: str) -> list[str]:
    return [family, *(f"{family}.{folder}" for folder in _folders(family))]


def _own(family: str, name: str) -> ModuleSpec | None:
    if name in _folders(family):
        return None
    specs = (importlib.util.find_spec(f"{package}.{name}") for package in _packages(family))
    return next((spec for spec in specs if spec is not None), None)


def _entry_points(family: str) -> importlib.metadata.EntryPoints:
    return _entry_points_on(tuple(sys.path), family)


@functools.lru_cache(maxsize=32)
def _entry_points_on(path: tuple[str, ...], family: str) -> importlib.metadata.EntryPoints:
    """Cached: reading the metadata of all installed distributions takes tens of milliseconds."""
    return importlib.metadata.entry_points(group=family)


def _source(family: str, name: str) -> str:
    spec = _own(family, name)
    if spec is None:
        for entry_point in _entry_points(family).select(name=name):
            spec = importlib.util.find_spec(entry_point.module)
    if spec is None or not isinstance(spec.loader, importlib.abc.InspectLoader):
        return ""
    return spec.loader.get_source(spec.name) or ""


def _literal(statement: str) -> object:
    try:
        assignment = ast.parse(statement).body[0]
    except SyntaxError:
        return _INCOMPLETE
    value = assignment.value if isinstance(assignment, ast.Assign | ast.AnnAssign) else None
    return None if value is None else ast.literal_eval(value)


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
