from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, cast
from urllib.parse import urlsplit

from pydantic import BaseModel, SecretStr

from bot.settings import PREFIX
from bot.web.visit import Shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bot.web.visit import Visit

TITLE: Final = "Settings"
PATH: Final = "settings"
POSITION: Final = 80
OPERATOR_ONLY: Final = True

_SET: Final = "set"
_SAFE: Final = frozenset(
    {"kind", "name", "model", "language", "provider", "context_tokens", "streams", "port"}
)
"""Of the settings that parts validate themselves, the texts that are no secrets."""
_CLOSED: Final = ("key", "token", "secret", "password", "header", "env", "args", "command", "credential")


async def show(visit: Visit) -> Shown:
    settings = visit.parts.application.settings
    rows = [
        (name, value, changed)
        for name, value, changed in _rows(settings, PREFIX)
        if changed or visit.query.get("all") == "yes"
    ]
    return Shown(template="settings.html", values={"rows": rows, "all": visit.query.get("all") == "yes"})


def _rows(part: BaseModel, prefix: str) -> Iterator[tuple[str, str, bool]]:
    for name, field in type(part).model_fields.items():
        value: object = getattr(part, name)
        alias = field.validation_alias
        variable = alias if isinstance(alias, str) else f"{prefix}{name.upper()}"
        if isinstance(value, BaseModel):
            yield from _rows(value, f"{variable}__")
        elif isinstance(value, Mapping):
            yield from _entries(cast("Mapping[str, object]", value), f"{variable}__")
        else:
            default = field.get_default(call_default_factory=True, validated_data={})
            yield variable, _shown(value, name), value != default
    yield from _entries(part.model_extra or {}, prefix)


def _entries(values: Mapping[str, object], prefix: str) -> Iterator[tuple[str, str, bool]]:
    for name, value in values.items():
        variable = f"{prefix}{str(name).upper()}"
        if isinstance(value, BaseModel):
            yield from _rows(value, f"{variable}__")
        elif isinstance(value, Mapping):
            yield from _entries(cast("Mapping[str, object]", value), f"{variable}__")
        else:
            is_plain = _is_number(value) or str(name).lower() in _SAFE
            yield variable, _shown(value, str(name)) if is_plain else _SET, True


def _is_number(value: object) -> bool:
    each = cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,)
    return all(isinstance(one, bool | int | float) for one in each)


def _shown(value: object, name: str) -> str:
    if value is None or value == "" or value == ():
        return "–"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, SecretStr):
        return _SET if value.get_secret_value() else "–"
    if any(word in name.lower() for word in _CLOSED) and not isinstance(value, bool | int | float):
        return _SET
    if isinstance(value, tuple):
        return ", ".join(_without_password(str(each)) for each in cast("tuple[object, ...]", value))
    return _without_password(str(value))


def _without_password(text: str) -> str:
    if "://" not in text:
        return text
    return ",".join(_address(each) for each in text.split(","))


def _address(text: str) -> str:
    try:
        parts = urlsplit(text)
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        return _SET
    return f"{parts.scheme}://{host}{parts.path}{'?…' if parts.query else ''}"
