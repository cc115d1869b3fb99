"""A platform's JSON: a missing or wrongly typed field is a named error or a logged default."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar, cast

from bot.port.errors import Unreadable

_log = logging.getLogger(__name__)
_Kind = TypeVar("_Kind")
_NAMES: Final[dict[type, str]] = {
    dict: "an object",
    list: "a list",
    str: "a text",
    bool: "a flag",
    int: "a number",
    float: "a number",
    type(None): "null",
}


@dataclass(frozen=True, slots=True)
class Fields:
    """`source` names the object in errors, e.g. `users.info: user`. Methods with a default log a wrong type; the others
    raise `Unreadable`.
    """

    source: str
    values: Mapping[str, Any]

    @classmethod
    def of(cls, value: object, source: str) -> Fields:
        """Raises `Unreadable` for what is no object."""
        if not isinstance(value, Mapping):
            raise Unreadable(f"{source} is {_kind(value)} instead of an object.")
        return cls(source, cast("Mapping[str, Any]", value))

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def need_text(self, name: str) -> str:
        """Raises `Unreadable` if it is empty, too."""
        value = self._need(name, str)
        if not value:
            raise Unreadable(f"{self.source}: the field {name} is empty.")
        return value

    def need_object(self, name: str) -> Fields:
        value = cast("Mapping[str, Any]", self._need(name, Mapping))
        return Fields(f"{self.source}: {name}", value)

    def need_objects(self, name: str) -> list[Fields]:
        return self._objects(name, cast("list[Any]", self._need(name, list)))

    def need_texts(self, name: str) -> list[str]:
        return self._texts(name, cast("list[Any]", self._need(name, list)))

    def text(self, name: str) -> str:
        return self._get(name, str, "")

    def number(self, name: str) -> int:
        value = self._get(name, (int, float, str), 0)
        try:
            return int(value)
        except (ValueError, OverflowError):
            self._complain(name, value)
            return 0

    def flag(self, name: str, *, uncertain: bool = False) -> bool:
        """`uncertain` if the field has another type."""
        value = self.values.get(name)
        if value is None or isinstance(value, bool | int):
            return bool(value)
        self._complain(name, value)
        return uncertain

    def object(self, name: str) -> Fields:
        return Fields(f"{self.source}: {name}", self._get(name, Mapping, cast("Mapping[str, Any]", {})))

    def objects(self, name: str) -> list[Fields]:
        return self._objects(name, self._get(name, (list, tuple), []))

    def texts(self, name: str) -> list[str]:
        return self._texts(name, self._get(name, (list, tuple), []))

    def _need(self, name: str, kind: type[_Kind]) -> _Kind:
        value = self.values.get(name)
        if not isinstance(value, kind):
            found = _kind(value) if name in self.values else "missing"
            raise Unreadable(f"{self.source}: the field {name} is {found}.")
        return value

    def _get(self, name: str, kind: Any, default: Any) -> Any:
        value = self.values.get(name)
        if value is None:
            return default
        if isinstance(value, kind):
            return value
        self._complain(name, value)
        return default

    def _objects(self, name: str, values: list[Any]) -> list[Fields]:
        found: list[Fields] = []
        for value in values:
            if isinstance(value, Mapping):
                found.append(Fields(f"{self.source}: {name}", cast("Mapping[str, Any]", value)))
            else:
                self._complain(f"{name}[]", value)
        return found

    def _texts(self, name: str, values: list[Any]) -> list[str]:
        for value in values:
            if not isinstance(value, str):
                self._complain(f"{name}[]", value)
        return [value for value in values if isinstance(value, str)]

    def _complain(self, name: str, value: object) -> None:
        _log.warning("%s: the field %s is %s and is not used", self.source, name, _kind(value))


def _kind(value: object) -> str:
    return _NAMES.get(type(value), type(value).__name__)
